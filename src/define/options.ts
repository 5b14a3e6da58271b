/** The options of `given` that `known` does not list. A misspelt option is an error, never ignored. */
export function unknownOptions(given: object, known: readonly string[]): string[] {
  return Object.keys(given).filter((option) => !known.includes(option));
}

/** Says which options are not known and which are. */
export function unknownOptionsProblem(where: string, unknown: readonly string[], known: readonly string[]): string {
  const names = unknown.map((option) => `"${option}"`).join(", ");
  return `${where} has no option ${names}. There are: ${known.join(", ")}.`;
}

/** Whether a value is a whole number of at least `least`. */
export function isCount(value: unknown, least: number): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= least;
}
