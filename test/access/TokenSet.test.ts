import { assert, describe, it } from "@effect/vitest"
import * as Redacted from "../../src/cell/Redacted.ts"
import type { AccessRefused } from "../../src/access/AccessRefused.ts"
import { MAX_TOKENS, type Token } from "../../src/access/Token.ts"
import { MAX_AGE, RETRY, type Snapshot, type Store } from "../../src/access/TokenSet.ts"
import * as HostAccess from "../../src/main/host/HostAccess.ts"
import { codeOf, DAY, idIn, make } from "./TestTokens.ts"

const wrong = (id = "00000000") => `sys_${id}_${"A".repeat(43)}`

describe("A token", () => {
  it("is accepted until it expires, 90 days after its creation unless it says otherwise", async () => {
    const { check, clock, create } = make()
    const long = await create({ verbs: ["read"] })
    const short = await create({ verbs: ["read"], expires: "5m" })
    assert.strictEqual(await check(long), idIn(long))
    clock.now += 5 * 60_000 - 1
    assert.strictEqual(await check(short), idIn(short))
    clock.now += 1
    assert.strictEqual(await check(short), "auth/expired")
    clock.now += 90 * DAY
    assert.strictEqual(await check(long), "auth/expired")
  })

  it("is refused with another secret, as an unknown one is", async () => {
    const { check, create, set } = make()
    const secret = await create({ verbs: ["read"] })
    const id = idIn(secret) ?? ""
    for (const other of [wrong(id), wrong(), secret.slice(0, -1), `${secret}x`, "sys_", secret.toUpperCase()]) {
      assert.strictEqual(await check(other), "auth/missing", other)
    }
    const [mine, other] = await Promise.all([set.check(Redacted.make(wrong(id))), set.check(Redacted.make(wrong()))])
    assert.deepStrictEqual(mine, other)
  })

  it("has two secrets during a rotation, and the newest after it", async () => {
    const { admin, check, create, rotate } = make()
    const first = await create({ verbs: ["read"] })
    const id = idIn(first) ?? ""
    const second = await rotate(id)
    assert.deepStrictEqual([await check(first), await check(second)], [id, id])
    const third = await rotate(id)
    assert.deepStrictEqual([await check(first), await check(second), await check(third)], ["auth/missing", id, id])
    assert.lengthOf((await admin.settle(id)).digests, 1)
    assert.deepStrictEqual([await check(second), await check(third)], ["auth/missing", id])
  })

  it("ends with its revocation: at once on its host, and within 10 seconds on others", async () => {
    const here = make()
    const there = make({ clock: here.clock, store: here.store })
    const secret = await here.create({ verbs: ["read"] })
    const id = idIn(secret) ?? ""
    assert.strictEqual(await there.check(secret), id)
    await here.admin.revoke(id)
    const ended = ({ set }: typeof here) => (set.refusalOf({ id, expires: Infinity }) as AccessRefused | undefined)?.code
    assert.deepStrictEqual([await here.check(secret), ended(here)], ["auth/revoked", "auth/revoked"])
    here.clock.now += MAX_AGE + 1
    assert.deepStrictEqual([await there.check(secret), ended(there)], ["auth/revoked", "auth/revoked"])
    assert.strictEqual(await codeOf(here.admin.rotate(id, undefined)), "access/absent")
  })

  it("stays revoked where a restored store forgot it, as long as a host knows", async () => {
    const restored: { snapshot?: Snapshot | undefined } = {}
    const inner = HostAccess.inMemory()
    const store: Store = { ...inner, load: async (known) => restored.snapshot ?? inner.load(known) }
    const { admin, check, clock, create } = make({ store })
    const secret = await create({ verbs: ["read"] })
    const backup = await inner.load()
    await admin.revoke(idIn(secret) ?? "")
    restored.snapshot = backup
    clock.now += MAX_AGE + 1
    assert.strictEqual(await check(secret), "auth/revoked")
    assert.strictEqual(await make({ store, clock }).check(secret), idIn(secret))
  })

  it("notes the day of its newest use once a day, and is accepted where no note can be taken", async () => {
    const inner = HostAccess.inMemory()
    const uses: Array<string> = []
    const store: Store = { ...inner, use: async (id, day) => {
      uses.push(day)
      await inner.use(id, day)
    } }
    const { admin, check, clock, create } = make({ store })
    const secret = await create({ verbs: ["read"] })
    for (let i = 0; i < 3; i++) await check(secret)
    clock.now += DAY
    for (let i = 0; i < 3; i++) await check(secret)
    assert.deepStrictEqual(uses, ["2026-11-27", "2026-11-28"])
    assert.strictEqual((await admin.list("", 10)).tokens[0]?.used, "2026-11-28")
    const full = make({ clock, store: { ...inner, use: () => Promise.reject(new Error("disk full")) } })
    clock.now += DAY
    assert.strictEqual(await full.check(secret), idIn(secret))
  })
})

describe("A set of tokens", () => {
  it("takes a created token beside those that it has not loaded yet", async () => {
    const first = make()
    const secret = await first.create({ verbs: ["read"] })
    const second = make({ clock: first.clock, store: first.store })
    const other = await second.create({ verbs: ["read"] })
    assert.deepStrictEqual([await second.check(secret), await second.check(other)], [secret, other].map(idIn))
    second.clock.now += MAX_AGE + 1
    assert.deepStrictEqual([await second.check(secret), await second.check(other)], [secret, other].map(idIn))
  })

  it("older than 10 seconds refuses tokens while its store fails, and accepts them again after it", async () => {
    const inner = HostAccess.inMemory()
    let isBroken = false
    const store: Store = { ...inner, load: (known) => isBroken ? Promise.reject(new Error("damaged")) : inner.load(known) }
    const { check, clock, create } = make({ store })
    const secret = await create({ verbs: ["read"] })
    const id = idIn(secret)
    await check(secret)
    isBroken = true
    clock.now += MAX_AGE
    assert.strictEqual(await check(secret), id)
    clock.now += 1
    assert.strictEqual(await check(secret), "access/unavailable")
    // A clock that was set back tells no age.
    clock.now -= 600_000
    assert.strictEqual(await check(secret), "access/unavailable")
    isBroken = false
    clock.now += RETRY
    assert.strictEqual(await check(secret), id)
  })

  it("tells why its store fails once for each cause, and asks it once a second meanwhile, whatever is shown", async () => {
    const inner = HostAccess.inMemory()
    const told: Array<string> = []
    let [cause, loads]: [string | undefined, number] = ["disk full", 0]
    const store: Store = { ...inner, load: (known) => {
      loads++
      return cause === undefined ? inner.load(known) : Promise.reject(new Error(cause))
    } }
    const { check, clock, set } = make({ store, report: (failure) => told.push(String(failure)) })
    for (let i = 0; i < 1000; i++) assert.strictEqual(await check(wrong(i.toString(32).padStart(8, "0"))), "access/unavailable")
    assert.strictEqual(await check("sys_x"), "auth/missing")
    assert.strictEqual(loads, 1)
    const refused = await set.refusalOf({ id: "00000000", expires: Infinity })
    assert.strictEqual(refused?.code, "access/unavailable")
    for (const next of ["disk full", "damaged", "damaged", undefined, "damaged"]) {
      cause = next
      clock.now += MAX_AGE + RETRY
      await check(wrong())
    }
    assert.deepStrictEqual(told, ["Error: disk full", "Error: damaged", "Error: damaged"])
    assert.strictEqual(loads, 6)
  })

  it("holds nothing of 20,000 wrong tokens, and loads nothing for them while it is fresh", async () => {
    const inner = HostAccess.inMemory()
    let loads = 0
    const store: Store = { ...inner, load: (known) => (loads++, inner.load(known)) }
    const { create, set } = make({ store })
    await create({ verbs: ["read"] })
    await set.check(Redacted.make(wrong()))
    const before = loads
    for (let i = 0; i < 20_000; i++) {
      const checked = set.check(Redacted.make(wrong(i.toString(32).padStart(8, "0"))))
      if (checked instanceof Promise || !("refused" in checked)) assert.fail("refused at once")
      set.deny(`${i}`, checked.refused.code)
    }
    assert.strictEqual(loads, before)
    assert.deepStrictEqual(set.denied(), { "auth/missing": 20_000 })
    assert.lengthOf(Array.from({ length: 20_000 }, (_, i) => set.denied(`${i}`)).flatMap(Object.keys), 0)
  })
})

describe("The administration of tokens", () => {
  it("keeps at most 1,000 live tokens", async () => {
    const { admin, clock, store } = make()
    const tokens = Array.from({ length: MAX_TOKENS }, (_, i): Token =>
      ({ id: `t${`${i}`.padStart(7, "0")}`, verbs: ["read"], created: 0, expires: clock.now + DAY, digests: [] }))
    let known = ""
    for (const [i, token] of tokens.entries()) {
      await store.save({ token, known, revision: `${i}`, now: clock.now })
      known = `${i}`
    }
    assert.strictEqual(await codeOf(admin.create({ verbs: ["read"] }, undefined)), "access/full")
    await admin.revoke("t0000000")
    assert.strictEqual(await codeOf(admin.create({ verbs: ["read"] }, undefined)), "done")
    clock.now += 2 * DAY
    assert.strictEqual(await codeOf(admin.create({ verbs: ["read"] }, undefined)), "done")
    assert.lengthOf((await admin.list("", 400)).tokens, 2)
  })

  it("refuses a scope that means nothing, and gives no verb that its administrator lacks", async () => {
    const { admin, clock, create } = make()
    for (const wanted of [
      { spaces: ["@access"], verbs: ["read"] }, { spaces: ["Shop"], verbs: ["read"] },
      { prefixes: ["/data/a?scope=user:1"], verbs: ["read"] },
      { prefixes: ["/data/a"], verbs: ["write"] }, { clearance: [], verbs: ["read", "operate"] }, { verbs: ["read"], expires: "400d" },
      { clearance: ["the operator"], verbs: ["read"] }, { clearance: ["a/b"], prefixes: ["/data/a"], verbs: ["read"] },
      { verbs: ["read"], expires: "soon" }
    ] as const) assert.strictEqual(await codeOf((async () => admin.create(wanted, undefined))()), "access/invalid", JSON.stringify(wanted))
    for (const prefix of ["data", "/data/../sys", "/data//a", "/data/"]) {
      assert.notStrictEqual(await codeOf((async () => admin.create({ prefixes: [prefix], verbs: ["read"] }, undefined))()), "done", prefix)
    }
    const by: Token = { id: "00000000", verbs: ["admin", "read"], created: 0, expires: Infinity, digests: [] }
    assert.strictEqual(await codeOf(admin.create({ verbs: ["read", "admin"] }, by)), "done")
    assert.strictEqual(await codeOf((async () => admin.create({ verbs: ["write"] }, by))()), "access/verb")
    const brief = { ...by, expires: clock.now + 60_000 }
    assert.strictEqual((await admin.create({ verbs: ["read"] }, brief)).expires, brief.expires)
    assert.strictEqual((await admin.create({ verbs: ["read"], expires: "1m" }, brief)).expires, brief.expires)
    assert.strictEqual(await codeOf((async () => admin.create({ verbs: ["read"], expires: "61s" }, brief))()), "access/invalid")
    const longer = idIn(await create({ verbs: ["read"] })) ?? ""
    assert.strictEqual(await codeOf(admin.rotate(longer, brief)), "access/invalid")
    assert.strictEqual(await codeOf(admin.rotate(longer, by)), "done")
    const other = idIn(await create({ verbs: ["write"] })) ?? ""
    assert.strictEqual(await codeOf(admin.rotate(other, by)), "access/verb")
  })
})
