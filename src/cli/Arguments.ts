/**
 * The arguments of a command line before they are parsed.
 *
 * @module
 */

/** Flags with a value that may stand before any command. */
const LEADING: ReadonlySet<string> = new Set(["--data", "--env", "--server", "--log-level"])

/**
 * The first argument behind the flags with a value that may stand before a command.
 */
export const first = (args: ReadonlyArray<string>): string | undefined => {
  let i = 0
  for (let flag = args[i]; flag !== undefined && LEADING.has(flag.replace(/=.*/s, "")); flag = args[i]) i += flag.includes("=") ? 1 : 2
  return args[i]
}

/**
 * The environment that a command line names before or behind its command; `undefined` if it names none.
 */
export const environmentOf = (args: ReadonlyArray<string>): string | undefined => {
  const at = args.findIndex((arg) => arg === "--env" || arg.startsWith("--env="))
  if (at < 0) return undefined
  return args[at] === "--env" ? args[at + 1] : args[at]?.slice("--env=".length)
}

/**
 * The name of the command; `undefined` if the arguments name none, such as `--help`.
 */
export const commandOf = (args: ReadonlyArray<string>): string | undefined => {
  const found = first(args)
  return found?.startsWith("-") === true ? undefined : found
}
