-- Which tools a session began with, and where each later one joined: JSON of ToolDeferrals (values/tool-deferrals.ts).
-- NULL means that there is no baseline, or that the row is older than this column. The session's next model call then
-- records one.
ALTER TABLE sessions ADD COLUMN tool_deferrals TEXT;
