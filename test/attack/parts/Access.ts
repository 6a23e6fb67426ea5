/**
 * Credentials that are wrong: tokens, JSON Web Tokens, cookies and bearers, an issuer that does not answer any more, and a token
 * beyond its rate.
 *
 * @module
 */
import { Agent, createServer, request, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { AUDIENCE, claims, ISSUER, key } from "../../access/Issuer.ts"
import type { Part } from "../Part.ts"
import { hold, memory, PATIENCE, type Target } from "../Targets.ts"

const path = "/v1/spaces/guests/cells/data/x"

/** The requests of an attempt, and those of the flood. */
const BATCH = 10
const FLOOD = 20_000

/** The rates of the configuration: a minute of requests is used at once. */
const WINDOW = 60
const RATE = { address: 1000, credential: 2000 }

/** The memory that a flood may take, in MiB. */
const GROWTH = 256

/** The time after which a client gives up a request that the keys of the issuer hold up, in milliseconds. */
const GIVEN_UP = 300

/** The addresses of callers behind a proxy: each its own, so that no rate ends the attack, and one for all. */
const addressOf = (n: number): string => n % 2 === 0 ? "203.0.113.1" : `198.${18 + (n >> 16) % 2}.${(n >> 8) % 256}.${n % 256}`

/** A text with so many characters, which is another one for each number. */
const text = (n: number, length: number): string => n.toString(16).padStart(length, "0").slice(-length)

type Headers = Readonly<Record<string, string>>

const bearer = (credential: string): Headers => ({ authorization: `Bearer ${credential}` })

/** The wrong credentials, each by its number. */
const wrong = (port: string, [head = "", body = "", signature = ""]: ReadonlyArray<string>): ReadonlyArray<(n: number) => Headers> => {
  const json = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url")
  const pass = (kind: string, n: number): string => `sy${kind}.${text(n, 16)}.zzzzzzzz.operator.${text(n, 64)}`
  return [
    (n) => bearer(`sys_${text(n, 8)}_${text(n, 43)}`),
    (n) => bearer(`${head}.${json({ ...claims(Date.now()), sub: `${n}` })}.${signature}`),
    (n) => bearer(`${json({ alg: "none" })}.${json({ n })}.`),
    (n) => ({ cookie: `systole-${port}=${pass("c", n)}` }),
    (n) => bearer(pass("b", n)),
    (n) => bearer(`${head}.${body}.${text(n, 8000)}`),
    (n) => bearer(`${text(n, 8)} ${"x ".repeat(2000)}`)
  ]
}

const agent = new Agent({ keepAlive: true, maxSockets: BATCH })

/** The status of an answer; 0 of a request that its client gave up. */
const status = ({ server: { url } }: Target, headers: Headers, millis = PATIENCE): Promise<number> =>
  new Promise((resolve, reject) => {
    const asked = request(`${url}${path}`, { agent, headers }, (response) => {
      response.resume().on("end", () => resolve(response.statusCode ?? 0)).on("error", reject)
    })
    const late = setTimeout(() => {
      if (millis === PATIENCE) reject(new Error(`a request is not answered within ${PATIENCE} ms`))
      resolve(0)
      asked.destroy()
    }, millis)
    asked.on("close", () => clearTimeout(late)).on("error", reject).end()
  })

/** The statuses of requests: the refusals of credentials, and those beyond a rate. */
const refusals: ReadonlyArray<number> = [401, 429]

/** A server of a key set that answers once. */
const issuer = async (jwk: object): Promise<Server> => {
  let asked = 0
  const server = createServer((_, response) => void (asked++ === 0 && response.end(JSON.stringify({ keys: [jwk] }))))
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return server
}

const operatorIsIn = async ({ ask }: Target): Promise<void> => {
  const answer = await ask("/v1/spaces?limit=1", { headers: { "x-forwarded-for": addressOf(0) } })
  hold(answer.status === 200, `the operator is answered ${answer.status} ${answer.text.slice(0, 200)}`)
}

/** Sends so many requests, a batch at a time. Returns the numbers of their statuses. */
const flood = async (count: number, send: (n: number) => Promise<number>): Promise<ReadonlyMap<number, number>> => {
  const counts = new Map<number, number>()
  for (let first = 0; first < count; first += BATCH) {
    const statuses = await Promise.all(Array.from({ length: BATCH }, (_, i) => send(first + i)))
    for (const status of statuses) counts.set(status, (counts.get(status) ?? 0) + 1)
  }
  return counts
}

const config = (jwks: string): string => {
  const jwt = { issuer: ISSUER, audience: AUDIENCE, algorithms: ["ES256"], jwks }
  const rate = (requests: number) => ({ requests, seconds: WINDOW })
  const rates = { address: rate(RATE.address), credential: rate(RATE.credential) }
  return `{
    jwt: { ...${JSON.stringify(jwt)}, claims: () => ({ verbs: ["read"], spaces: ["guests"] }) },
    rates: ${JSON.stringify(rates)}, trustedProxies: ["127.0.0.1"]
  }`
}

export const access: Part = {
  name: "access",
  holds: "no wrong credential, silent issuer or token beyond its rate costs others time or memory, and the operator gets in",
  everyMs: 10,
  prepare: async () => {
    const [known, unknown] = await Promise.all([key("known"), key("unknown")])
    const keys = await issuer(known.jwk)
    const { port } = keys.address() as AddressInfo
    const [jwt, strange] = await Promise.all([known.sign(claims(Date.now())), unknown.sign(claims(Date.now()))])
    let token = ""
    const refused = async (target: Target, n: number): Promise<number> => {
      const kinds = wrong(new URL(target.server.url).port, jwt.split("."))
      const headers = { ...kinds[Math.floor(n / 2) % kinds.length]?.(n), "x-forwarded-for": addressOf(n) }
      const answer = await status(target, headers)
      hold(refusals.includes(answer), `${JSON.stringify(headers).slice(0, 200)} is answered ${answer}`)
      return answer
    }
    /** A JSON Web Token of a key that the issuer is asked for, in vain. */
    const held = async (target: Target, n: number): Promise<void> => {
      const answer = await status(target, { ...bearer(strange), "x-forwarded-for": addressOf(2 * n + 1) }, GIVEN_UP)
      hold([0, 503, ...refusals].includes(answer), `a JSON Web Token of an unknown key is answered ${answer}`)
    }
    const fast = async (target: Target): Promise<number> => {
      const answer = await status(target, bearer(token))
      hold(answer === 404 || answer === 429, `a token beyond its rate is answered ${answer}`)
      return answer
    }
    return {
      ground: { access: config(`http://127.0.0.1:${port}/jwks.json`) },
      begin: async (target) => {
        const body = JSON.stringify({ verbs: ["read"], spaces: ["guests"] })
        const headers = { "content-type": "application/json" }
        const created = await target.ask("/v1/spaces/guests", { method: "PUT" })
        const made = await target.ask("/v1/access/tokens", { method: "POST", headers, body })
        hold(created.status === 201 && made.status === 201, `the space and its token are answered ${created.status}, ${made.status}`)
        token = (JSON.parse(made.text) as { readonly token: string }).token
        for (const credential of [token, jwt]) hold(await status(target, bearer(credential)) === 404, "a valid credential is refused")
      },
      attempt: async (target, n) => {
        const wrongs = Array.from({ length: BATCH }, (_, i) => refused(target, n * BATCH + i))
        await Promise.all([...wrongs, held(target, n), fast(target), operatorIsIn(target)])
      },
      check: operatorIsIn,
      beside: async (target) => {
        const before = memory(target.server.process.pid)
        const wrongs = await flood(FLOOD, (n) => refused(target, n))
        for (const expected of refusals) hold((wrongs.get(expected) ?? 0) > 0, `none of ${FLOOD} wrong credentials is answered ${expected}`)
        const many = await flood(2 * RATE.credential, () => fast(target))
        hold((many.get(429) ?? 0) > 0, `a token has ${2 * RATE.credential} requests within its rate`)
        hold(await status(target, { ...bearer(jwt), "x-forwarded-for": addressOf(0) }) === 404, "a remembered JSON Web Token is refused")
        await operatorIsIn(target)
        await target.check()
        const growth = memory(target.server.process.pid) - before
        hold(growth <= GROWTH, `${FLOOD} wrong credentials leave ${growth} MiB more`)
      },
      end: async () => {
        keys.closeAllConnections()
        keys.close()
      }
    }
  }
}
