ALTER TABLE sessions ADD COLUMN tool_deferrals TEXT;
