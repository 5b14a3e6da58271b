/** What is asked, in turns; each needs a tool, and most of them one that has to be loaded first. */
const QUESTIONS: readonly string[] = [
  "How much is 26.2 miles in kilometres? Convert the units with a tool.",
  "What is 1987 in Roman numerals? Use a tool for Roman numerals.",
  "Which colour is #c0ffee in RGB? Convert the colour with a tool.",
  "What is the stock level of article 4711-B? Use a tool.",
  "How many days lie between 2026-01-31 and 2026-12-24? Use a tool for the difference of dates.",
  "And how much is 100 kilometres in miles?",
];

/** From this turn on, counted from 1, another tool is there. */
export const LATE_FROM = 4;

/** The question of a turn, counted from 1; after the last they begin again. */
export function question(turn: number): string {
  const again = Math.floor((turn - 1) / QUESTIONS.length);
  const text = QUESTIONS[(turn - 1) % QUESTIONS.length] ?? "";
  return again === 0 ? text : `Once more, for the ${again + 1}. time: ${text}`;
}
