/**
 * The type `composite`: other actions of the file, one after another or at the same time.
 *
 * @module
 */
import * as ActionType from "../order/ActionType.ts"
import * as ActionMembers from "../order/Members.ts"

export default ActionType.make({
  type: "composite",
  run: async (attempt) => {
    const { order: { members = [], progress, timeoutMs }, raw, tx } = attempt
    const mode = raw("mode") || "sequential"
    if (mode !== "sequential" && mode !== "parallel") {
      throw ActionType.invalid(`The mode ${mode} is unknown; write sequential or parallel`)
    }
    if (members.length === 0 && progress === undefined) {
      throw ActionType.invalid("The action has no actions. Write - **actions**: ID, ID")
    }
    const isFailFast = raw("fail_fast") === "" || ActionType.isTrue(raw("fail_fast"))
    const late = tx.sleep(timeoutMs).then(() => undefined)
    const done = await Promise.race([ActionMembers.run(attempt, { isParallel: mode === "parallel", isFailFast }), late])
    if (done === undefined) throw new ActionType.ActionFailed("agent/timeout", `timed out: the members did not end within ${timeoutMs} ms`)
    return done
  }
})
