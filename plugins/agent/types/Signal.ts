/**
 * The type `signal`: an event of the same space. The action ends with it, unless it has `wait: false`.
 *
 * @module
 */
import { JsonText } from "systole"
import * as CellAgent from "../cells/CellAgent.ts"
import * as ActionType from "../order/ActionType.ts"

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
  run: async ({ raw, send, text, tx }) => {
    const [signal, target, payload] = [raw("signal"), text("target"), text("payload")]
    if (signal === CellAgent.APPROVE) {
      throw ActionType.invalid(`signal: an action cannot send ${signal}. Approve the program yourself, with that signal over HTTP`)
    }
    const request = {
      ...signal === "" ? {} : { signal },
      ...target === "" ? {} : { target },
      ...payload === "" ? {} : { payload: payloadOf(payload) }
    }
    if (raw("wait") === "false") {
      const id = tx.signal(request)
      return { result: `sent ${id}`, output: id }
    }
    const id = await send(request)
    return { result: `handled ${id}`, output: id }
  }
})
