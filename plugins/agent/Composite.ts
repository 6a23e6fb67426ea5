/**
 * The type `composite`: other actions of the file, one after another or at the same time.
 *
 * @module
 */
import { ActionType } from "systole"

/** Runs members in their order. With `fail_fast`, the first failure ends the action. */
const sequential = async (attempt: ActionType.Attempt, members: ReadonlyArray<ActionType.Order>): Promise<ReadonlyArray<string>> => {
  const isFailFast = attempt.raw("fail_fast") === "" || ActionType.isTrue(attempt.raw("fail_fast"))
  const failed: Array<string> = []
  for (const member of members) {
    if (await ActionType.runMember(attempt, member) === "failed") failed.push(member.action)
    if (isFailFast && failed.length > 0) break
  }
  return failed
}

const parallel = async (attempt: ActionType.Attempt, members: ReadonlyArray<ActionType.Order>): Promise<ReadonlyArray<string>> => {
  const statuses = await Promise.all(members.map((member) => ActionType.runMember(attempt, member)))
  return members.filter((_, i) => statuses[i] === "failed").map(({ action }) => action)
}

export default ActionType.make({
  type: "composite",
  run: async (attempt) => {
    const { order: { members = [], timeoutMs }, raw, tx } = attempt
    const mode = raw("mode") || "sequential"
    if (mode !== "sequential" && mode !== "parallel") {
      throw ActionType.invalid(`The mode ${mode} is unknown; write sequential or parallel`)
    }
    if (members.length === 0) throw ActionType.invalid("The action has no actions. Write - **actions**: ID, ID")
    const late = tx.sleep(timeoutMs).then(() => undefined)
    const failed = await Promise.race([mode === "parallel" ? parallel(attempt, members) : sequential(attempt, members), late])
    if (failed === undefined) throw new ActionType.ActionFailed("agent/timeout", `The members did not end within ${timeoutMs} ms`)
    if (failed.length > 0) throw new ActionType.ActionFailed("agent/member-failed", `${failed.join(", ")} failed`)
    return { result: `${members.length} of ${members.length} completed` }
  }
})
