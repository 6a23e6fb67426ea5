import { assert, describe, it } from "@effect/vitest"
import { copyFileSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as AccessTable from "../../src/access/AccessTable.ts"
import type { Token } from "../../src/access/Token.ts"
import type { Store } from "../../src/access/TokenSet.ts"
import * as HostAccess from "../../src/main/HostAccess.ts"
import { databaseOf } from "../../src/main/workers/TokenObject.ts"
import * as MemoryObject from "../main/MemoryObject.ts"
import { codeOf, make } from "./TestTokens.ts"

const token = (id: string): Token => ({ id, verbs: ["read"], created: 0, expires: 10, digests: ["0".repeat(64)] })

const inFolder = async (run: (folder: string) => Promise<void>): Promise<void> => {
  const folder = mkdtempSync(join(tmpdir(), "systole-access-"))
  try {
    await run(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const inObject = (): Store => {
  const database = databaseOf(MemoryObject.make().storage)
  return {
    load: async (known) => AccessTable.load(database, known),
    save: async (change) => AccessTable.save(database, change),
    use: async (id, day) => AccessTable.use(database, id, day)
  }
}

/** The promises of each store. */
const suite = (name: string, using: (run: (store: Store) => Promise<void>) => Promise<void>): void => {
  describe(`The store of tokens in ${name}`, () => {
    it("keeps the tokens of the newest revision, and tells nothing of a known one", () => using(async (store) => {
      assert.deepStrictEqual(await store.load(), { revision: "", tokens: [] })
      assert.isUndefined(await store.load(""))
      assert.strictEqual(await store.save({ token: token("b"), known: "", revision: "1", now: 0 }), "saved")
      assert.strictEqual(await store.save({ token: token("a"), known: "1", revision: "2", now: 0 }), "saved")
      assert.deepStrictEqual(await store.load("1"), { revision: "2", tokens: [token("a"), token("b")] })
      assert.isUndefined(await store.load("2"))
    }))

    it("refuses a change that another one preceded, and changes nothing", () => using(async (store) => {
      await store.save({ token: token("a"), known: "", revision: "1", now: 0 })
      assert.strictEqual(await store.save({ token: { ...token("a"), revoked: 1 }, known: "", revision: "2", now: 0 }), "changed")
      assert.deepStrictEqual(await store.load(), { revision: "1", tokens: [token("a")] })
    }))

    it("forgets expired tokens with the next change, and notes uses without one", () => using(async (store) => {
      await store.use("a", "2026-11-27")
      await store.save({ token: token("a"), known: "", revision: "1", now: 0 })
      await store.use("a", "2026-11-27")
      assert.deepStrictEqual(await store.load(), { revision: "1", tokens: [{ ...token("a"), used: "2026-11-27" }] })
      await store.save({ token: { ...token("b"), expires: 20 }, known: "1", revision: "2", now: 10 })
      assert.deepStrictEqual((await store.load())?.tokens.map(({ id }) => id), ["b"])
    }))
  })
}

suite("a data folder", (run) => inFolder((folder) => run(HostAccess.inFolder(join(folder, "data")))))
suite("memory", (run) => run(HostAccess.inMemory()))
suite("an object", (run) => run(inObject()))

describe("The row of a token", () => {
  for (const [what, part] of [
    ["a field that this version does not know", { hours: "9-17" }], ["a text in place of spaces", { spaces: "shopping" }],
    ["a number in place of prefixes", { prefixes: 1 }], ["a text in place of a clearance", { clearance: "salary" }]
  ] as const) it(`with ${what} grants nothing`, async () => {
    const store = HostAccess.inMemory()
    const secret = await make({ store }).create({ verbs: ["read"] })
    const { check } = make({ store })
    const { revision = "", tokens: [row] = [] } = await store.load() ?? {}
    if (row === undefined) assert.fail("no row")
    await store.save({ token: { ...row, ...part } as unknown as Token, known: revision, revision: "later", now: 0 })
    assert.strictEqual(await check(secret), "access/unavailable")
  })
})

describe("The file of tokens", () => {
  it("is made with the first token, for its owner alone, and holds no secret", () => inFolder(async (folder) => {
    const { admin, check, create } = make({ store: HostAccess.inFolder(folder) })
    assert.strictEqual(await check(`sys_00000000_${"A".repeat(43)}`), "auth/missing")
    assert.deepStrictEqual((await admin.list("", 10)).tokens, [])
    assert.deepStrictEqual(readdirSync(folder), [])
    await create({ verbs: ["read"] })
    assert.deepStrictEqual(readdirSync(folder), ["@access.sqlite"])
    assert.strictEqual(statSync(join(folder, "@access.sqlite")).mode & 0o777, 0o600)
  }))

  it("refuses tokens alone while it is damaged, and accepts them when it is restored", () => inFolder(async (folder) => {
    const file = join(folder, "@access.sqlite")
    const { admin, check, clock, create } = make({ store: HostAccess.inFolder(folder) })
    const secret = await create({ verbs: ["read"] })
    copyFileSync(file, `${file}.backup`)
    writeFileSync(file, "no database at all, and long enough to look like one. ".repeat(100))
    clock.now += 10_001
    assert.strictEqual(await check(secret), "access/unavailable")
    assert.strictEqual(await codeOf(admin.create({ verbs: ["read"] }, undefined)), "access/unavailable")
    copyFileSync(`${file}.backup`, file)
    assert.match(await check(secret), /^[0-9a-v]{8}$/)
  }))
})
