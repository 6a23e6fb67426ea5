/**
 * The type `shell`: a program of the host, through the channel `shell`.
 *
 * @module
 */
import { ActionType } from "systole"

interface Ended {
  readonly code: number
  readonly stdout?: string
  readonly content?: { readonly stdout: string }
  readonly cut?: ReadonlyArray<string>
}

export default ActionType.make({
  type: "shell",
  run: async ({ insert, raw, request, table, tx }) => {
    const words = ActionType.words(raw("command"))
    const [program = "", ...args] = words
    if (program.includes("${output:")) {
      throw ActionType.invalid("The command is an output of an action. Name the program; outputs are arguments alone")
    }
    const ended = await request("shell", "run", {
      argv: [program, ...args.map(insert)],
      cwd: raw("working_dir"),
      env: table("env")
    }) as Ended
    const bytes = ended.content === undefined ? undefined : tx.get(ended.content.stdout)
    const output = bytes instanceof Uint8Array ? new TextDecoder().decode(bytes) : ended.stdout ?? ""
    return { result: `exit ${ended.code}`, output }
  }
})
