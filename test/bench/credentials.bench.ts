/**
 * The requests of `ingress` with a token, a JSON Web Token and a session, compared to those without a credential, on one server.
 */
import { bench } from "./Durable.ts"

export default await bench({
  path: "/v1/spaces/bench/signals", concurrencies: [], rounds: 1, counted: "events", credentials: [16, 256]
})
