/**
 * A script of HTTP requests, which takes each route at least twice: as it is meant, and with a fault of its caller.
 *
 * @module
 */
import * as HttpLedgers from "./HttpLedgers.ts"
import { follow, get, type Line, patch, post, put, remove, S, send } from "./HttpRequest.ts"

const spaces: ReadonlyArray<Line> = [
  get("/livez"),
  get("/livez?x"),
  post("/livez"),
  get("/readyz"),
  get("/readyz?x"),
  get("/v1/enzymes"),
  get("/v1/enzymes?limit=2"),
  get("/v1/enzymes?after=1&limit=1"),
  get("/v1/enzymes?after=x"),
  get("/v1/flows"),
  get("/v1/flows?limit=x"),
  put(S),
  put(S),
  put("/v1/spaces/a%20b"),
  put("/v1/spaces/other"),
  get("/v1/spaces"),
  get("/v1/spaces?limit=1"),
  get("/v1/spaces?after=other&limit=1"),
  get("/v1/spaces?limit=-1"),
  patch(S),
  get("/nothing"),
  get("/v1/spaces/nobody/ops"),
  remove("/v1/spaces/other"),
  remove("/v1/spaces/other")
]

const signals: ReadonlyArray<Line> = [
  send({ signal: "/CEP:sig_sys/init" }),
  send({ signal: "/signals/put", payload: [["/data/a", { count: 1 }], ["/data/b", 2], ["/data/c/d", [1, 2]]] }, { keeps: { event: "id" } }),
  send({ signal: "/signals/put", payload: [["/data/b", 3]], id: "mine-1" }),
  send({ signal: "/signals/put", payload: [["/data/b", 3]], id: "mine-1" }),
  send({ signal: "/signals/put", payload: [["/data/b", 4]] }, { headers: { prefer: "wait=10", "idempotency-key": "mine-2" } }),
  post(`${S}/signals`, { signal: "/signals/later", at: { beats: 500 } }),
  post(`${S}/signals`, { signal: "/signals/none", payload: null }),
  send({ signal: "/signals/broken", payload: 7 }, { keeps: { broken: "event.id" } }),
  send({ signal: "/signals/none", target: "/data/x" }),
  send({ signal: "none" }),
  send({ target: "data" }),
  send({ signal: "/signals/none", more: 1 }),
  send({ signal: "/signals/none", at: { hours: 1 } }),
  send({ signal: "/signals/none", qos: "fast" }),
  send({ signal: "/signals/none", label: ["salary"] }),
  send({ signal: "/signals/none", id: "" }),
  send({ signal: "/signals/none", id: "a", payload: 1 }, { headers: { prefer: "wait=1", "idempotency-key": "b" } }),
  send({}),
  send([]),
  send("{"),
  send("{\"signal\":\"/signals/none\",\"payload\":9007199254740993}"),
  post(`${S}/signals`),
  post(`${S}/signals`, "signal=1", { headers: { "content-type": "text/plain" } }),
  get(`${S}/receipts/<event>`),
  get(`${S}/receipts/<event>`, { headers: { prefer: "wait=1" } }),
  get(`${S}/receipts/nothing`),
  get(`${S}/waiting`),
  get(`${S}/waiting?limit=1`),
  get(`${S}/waiting?after=x`),
  get(`${S}/waiting?limit=x`)
]

const cells: ReadonlyArray<Line> = [
  get(`${S}/cells/data/a`),
  get(`${S}/cells/data/a?path=/count`),
  get(`${S}/cells/data/a?path=count`),
  get(`${S}/cells/data?list`),
  get(`${S}/cells/data?list&limit=2`),
  get(`${S}/cells/data?below`),
  get(`${S}/cells/data?below&values&limit=2`),
  get(`${S}/cells/data?below&after=x`),
  get(`${S}/cells/data/total?pull`),
  get(`${S}/cells/data/total`, { headers: { prefer: "wait=1" } }),
  get(`${S}/cells/data/none`),
  get(`${S}/schema`),
  get(`${S}/schema?limit=x`),
  get(`${S}/cells/data//none`),
  get(`${S}/cells/data/a?scope=x`),
  follow(`${S}/cells/data/b`),
  follow(`${S}/cells/data/b`, { "last-event-id": "nonsense" }),
  put(`${S}/cells/data/own`, { n: 1 }),
  put(`${S}/cells/data/own?path=/n`, 5),
  put(`${S}/cells/data/own`, { $date: 5 }, { headers: { "content-type": "application/vnd.systole.rich+json" } }),
  put(`${S}/cells/data/own`, "{"),
  put(`${S}/cells/sys/own`, 1),
  put(`${S}/cells/data/total`, 1),
  get(`${S}/cells/data/own`),
  remove(`${S}/cells/data/own`),
  remove(`${S}/cells/rt/own`),
  put(`${S}/blobs`, "hello", { headers: { "content-type": "text/plain" }, keeps: { hash: "hash" } }),
  put(`${S}/blobs`),
  get(`${S}/blobs/<hash>`),
  get(`${S}/blobs/<hash>`, { headers: { range: "bytes=1-2" } }),
  get(`${S}/blobs/<hash>`, { headers: { range: "bytes=9-" } }),
  get(`${S}/blobs/none`),
  get(`${S}/beats?limit=3`),
  get(`${S}/beats?before=x`),
  follow(`${S}/beats?from=0`),
  get(`${S}/beats/1`),
  get(`${S}/beats/99999`),
  get(`${S}/beats/x`)
]

const failures: ReadonlyArray<Line> = [
  get(`${S}/dead`),
  get(`${S}/dead?after=x`),
  get(`${S}/dead/<broken>/broken`),
  get(`${S}/dead/<broken>/none`),
  post(`${S}/dead/<broken>/broken/redelivery`),
  post(`${S}/dead/<broken>/none/redelivery`),
  get(`${S}/denials`),
  get("/v1/spaces/nobody/denials"),
  post(`${S}/denials`)
]

const history: ReadonlyArray<Line> = [
  get(`${S}/journal/verification`),
  get("/v1/spaces/nobody/journal/verification"),
  post(`${S}/journal/verification`),
  get(`${S}/replay?to=5`),
  get(`${S}/replay?to=x`),
  get(`${S}/why?address=/data/b`),
  get(`${S}/why?address=data`),
  get(`${S}/why`),
  get(`${S}/explain?beat=1&enzyme=put`),
  get(`${S}/explain?beat=1&enzyme=none`),
  get(`${S}/explain?beat=x&enzyme=put`),
  get(`${S}/explain`),
  get(`${S}/graph`),
  get(`${S}/graph?limit=1`),
  get(`${S}/graph?after=x`),
  get(`${S}/graph?format=dot`),
  get(`${S}/graph?format=mermaid`),
  get(`${S}/graph?format=png`),
  put(`${S}/graph/trace`, { kinds: ["run"] }),
  put(`${S}/graph/trace`, { kinds: ["none"] }),
  get(`${S}/graph/trace`),
  get("/v1/spaces/nobody/graph/trace"),
  get(`${S}/debug`),
  get("/v1/spaces/nobody/debug"),
  put(`${S}/debug`, { breakpoints: ["total"] }),
  put(`${S}/debug`, { breakpoints: 5 }),
  get(`${S}/clock`),
  get("/v1/spaces/nobody/clock"),
  post(`${S}/clock`),
  post(`${S}/clock/reset`),
  post("/v1/spaces/nobody/clock/reset"),
  get(`${S}/clock/reset`),
  get(`${S}/store`),
  get("/v1/spaces/nobody/store"),
  post(`${S}/store/upgrade`),
  post(`${S}/store/upgrade?limit=x`),
  get(`${S}/store/finish`),
  post(`${S}/store/finish`),
  post("/v1/spaces/nobody/store/finish"),
  post(`${S}/store/upgrade?limit=1`),
  get(`${S}/store`)
]

const control: ReadonlyArray<Line> = [
  get(`${S}/control`),
  post(`${S}/control`),
  post(`${S}/control/rollback`, { to: 3 }),
  post(`${S}/control/hold`),
  post("/v1/spaces/nobody/control/hold"),
  get(`${S}/control`),
  post(`${S}/debug/step`),
  post(`${S}/debug/step`, "{"),
  post(`${S}/control/release`),
  post("/v1/spaces/nobody/control/release"),
  get(`${S}/control/release`),
  put(`${S}/locks/data/b`),
  put(`${S}/locks/data/b`),
  put(`${S}/locks/sys/b`),
  put(`${S}/cells/data/b`, 9),
  get(`${S}/control`),
  remove(`${S}/locks/data/b`),
  remove(`${S}/locks/data/b`),
  remove(`${S}/locks/data//b`),
  post(`${S}/control/pause`),
  post(`${S}/control/pause`),
  post(`${S}/control/rollback`, { to: "3" }),
  post(`${S}/control/rollback`, {}),
  post(`${S}/control/rollback`, { to: 999_999 }),
  post(`${S}/control/rollback`, { to: 3 }, { keeps: { back: "oid" } }),
  get(`${S}/ops/<back>`),
  post(`${S}/control/resume`),
  post(`${S}/control/resume`),
  post(`${S}/control/shutdown`),
  post(`${S}/control/shutdown`),
  post(`${S}/ops`, { verb: "op/io", target: "x" }),
  post(`${S}/control/hold/nothing`),
  post(`${S}/control/restart`),
  post(`${S}/control/restart`),
  get(`${S}/control`),
  post(`${S}/rv`, null),
  post(`${S}/rv`, []),
  post(`${S}/flows`, {})
]

const TOKENS = "/v1/access/tokens"

const tokens: ReadonlyArray<Line> = [
  post(TOKENS, { verbs: ["read"], spaces: ["shop"], expires: "90d" }, { keeps: { token: "id" } }),
  post(TOKENS, { verbs: ["all"] }),
  post(TOKENS, { verbs: ["write"], prefixes: ["/data"] }),
  get(TOKENS),
  get(`${TOKENS}?limit=x`),
  post(`${TOKENS}/<token>/rotation`),
  post(`${TOKENS}/nobody/rotation`),
  remove(`${TOKENS}/<token>/rotation`),
  remove(`${TOKENS}/nobody/rotation`),
  remove(`${TOKENS}/<token>`),
  remove(`${TOKENS}/nobody`),
  post(`${TOKENS}/<token>/rotation`),
  get(TOKENS)
]

const SESSION = "/v1/session"

const sessions: ReadonlyArray<Line> = [
  post(`${SESSION}?as=token`),
  post(`${SESSION}?as=all`),
  get(SESSION),
  get(`${SESSION}/nothing`),
  get(SESSION, { headers: { authorization: "Bearer guessed" } }),
  remove(SESSION),
  remove(SESSION, { headers: { authorization: "Bearer guessed" } })
]

/** Exports and imports have frames as bodies, which differ with each seed: `test/archive` has those that succeed. */
const archive: ReadonlyArray<Line> = [
  get("/v1/spaces/nobody/export"),
  get(`${S}/export?from=7`),
  put("/v1/spaces/copy/import/none?from=0", "nothing"),
  put("/v1/spaces/copy/import/abcdefgh?from=x", "nothing"),
  put("/v1/spaces/copy/import/abcdefgh?from=0", "nothing"),
  get(`${S}/detached`),
  get("/v1/spaces/nobody/detached"),
  remove(`${S}/detached`),
  remove("/v1/spaces/nobody/detached"),
  remove(`${S}/store/journal?before=1`),
  remove(`${S}/store/journal`)
]

/** The requests, in their order. */
export const script: ReadonlyArray<Line> =
  [...spaces, ...signals, ...cells, ...failures, ...HttpLedgers.all, ...history, ...control, ...tokens, ...sessions, ...archive]
