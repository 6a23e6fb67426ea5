/**
 * The type `shell`: a program of the host, through the channel `shell`.
 *
 * @module
 */
import * as ActionType from "../order/ActionType.ts"

/** The end of a program; `code` is `null` if a signal ended it. */
interface Ended {
  readonly code: number | null
  readonly signal?: string
  readonly stdout?: string
  readonly stderr?: string
  /** The addresses of outputs that are too long for a completion. */
  readonly content?: { readonly stdout: string; readonly stderr: string }
  readonly cut?: ReadonlyArray<string>
}

/** The longest time that the channel takes, in milliseconds. */
const LONGEST = 2 ** 31 - 1

/** The most bytes of an output that goes into a file: 64 MiB. */
const FILE_BYTES = 67_108_864

/** An output as a text. */
const textOf = ({ tx }: ActionType.Attempt, ended: Ended, name: "stdout" | "stderr"): string => {
  const bytes = ended.content === undefined ? undefined : tx.get(ended.content[name])
  return bytes instanceof Uint8Array ? new TextDecoder().decode(bytes) : ended[name] ?? ""
}

export default ActionType.make({
  type: "shell",
  run: async (attempt) => {
    const { insert, order, raw, request, table } = attempt
    const words = ActionType.words(raw("command"))
    const [program = "", ...args] = words
    if (program.includes("${output:")) {
      throw ActionType.invalid("The command is an output of an action. Name the program; outputs are arguments alone")
    }
    const ended = await request("shell", "run", {
      argv: [program, ...args.map(insert)],
      cwd: raw("working_dir"),
      env: table("env"),
      // The action's own limit of time counts, and a failed program tells its reason in its outputs.
      millis: Math.max(1, Math.min(order.timeoutMs, LONGEST)),
      expect: "any",
      ...raw("output_file") === "" ? {} : { maxBytes: FILE_BYTES }
    }) as Ended
    if (ended.code !== 0) {
      const end = ended.code === null ? `by the signal ${ended.signal}` : `with exit code ${ended.code}`
      const stderr = textOf(attempt, ended, "stderr")
      throw new ActionType.ActionFailed("shell/exit", `the program ${JSON.stringify(program.slice(0, 200))} ended ${end}`, { stderr })
    }
    return {
      result: `exit ${ended.code}`,
      output: () => textOf(attempt, ended, "stdout"),
      ...ended.content === undefined ? {} : { content: ended.content.stdout },
      isCut: ended.cut?.includes("stdout") === true
    }
  }
})
