/**
 * The type `signal`: a signal of the same space.
 *
 * @module
 */
import { ActionType, CellAgent } from "systole"

/** The payload as JSON. A text that is not JSON is the payload itself. */
const payloadOf = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

export default ActionType.make({
  type: "signal",
  run: ({ raw, text, tx }) => {
    const [signal, target, payload] = [raw("signal"), text("target"), text("payload")]
    if (signal === CellAgent.APPROVE) {
      throw ActionType.invalid(`signal: an action cannot send ${signal}. Approve the program yourself, with that signal over HTTP`)
    }
    const id = tx.signal({
      ...signal === "" ? {} : { signal },
      ...target === "" ? {} : { target },
      ...payload === "" ? {} : { payload: payloadOf(payload) }
    })
    return { result: `sent ${id}`, output: id }
  }
})
