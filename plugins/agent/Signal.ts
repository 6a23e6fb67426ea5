/**
 * The type `signal`: a signal of the same space.
 *
 * @module
 */
import { ActionType, CellAgent, JsonText } from "systole"

/** The payload as JSON. A text that is not JSON is the payload itself; JSON that would change is refused. */
const payloadOf = (text: string): unknown => {
  try {
    return JsonText.parse(text)
  } catch (error) {
    if (!(error instanceof JsonText.InvalidJson)) throw error
    if (error.code === "json/syntax") return text
    throw ActionType.invalid(`The payload is refused: ${error.reason}`)
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
