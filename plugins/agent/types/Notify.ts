/**
 * The type `notify`: a message to a webhook.
 *
 * @module
 */
import * as ActionType from "../order/ActionType.ts"

/** The bodies by channel. */
const bodies: Readonly<Record<string, (message: string, order: ActionType.Order) => unknown>> = {
  webhook: (message, { action, name }) => ({ message, action, name }),
  slack: (message) => ({ text: message }),
  discord: (message) => ({ content: message })
}

export default ActionType.make({
  type: "notify",
  run: async ({ order, raw, request, text }) => {
    const [channel, url, message] = [raw("channel") || "webhook", raw("target") || raw("url"), text("message")]
    if (channel === "signed") {
      await request("webhook-out", "send", { url, type: "agent.notify", data: { message, action: order.action, name: order.name } })
      return { result: "sent" }
    }
    const body = Object.hasOwn(bodies, channel) ? bodies[channel] : undefined
    if (body === undefined) {
      const known = [...Object.keys(bodies), "signed"].join(", ")
      throw ActionType.invalid(`The channel ${channel} is unknown; known are ${known}. A plugin can add a type for another one`)
    }
    await request("http", "fetch", {
      url, method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body(message, order)), expect: "2xx"
    })
    return { result: "sent" }
  }
})
