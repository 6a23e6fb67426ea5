import { assert, describe, it } from "@effect/vitest"
import { copyFileSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Redacted from "../../src/cell/Redacted.ts"
import * as AccessTable from "../../src/access/AccessTable.ts"
import type { Token } from "../../src/access/Token.ts"
import type { Change, Store } from "../../src/access/TokenSet.ts"
import * as Withdrawn from "../../src/access/Withdrawn.ts"
import * as HostAccess from "../../src/main/host/HostAccess.ts"
import type { Env } from "../../src/main/workers/Platform.ts"
import { databaseOf, storeOf } from "../../src/main/workers/TokenObject.ts"
import * as MemoryObject from "../main/MemoryObject.ts"
import { codeOf, idIn, make } from "./TestTokens.ts"

const token = (id: string): Token => ({ id, verbs: ["read"], created: 0, expires: 10, digests: ["0".repeat(64)] })

const inFolder = async (run: (folder: string) => Promise<void>): Promise<void> => {
  const folder = mkdtempSync(join(tmpdir(), "systole-access-"))
  try {
    await run(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const inObject = (): Store => AccessTable.storeOf(databaseOf(MemoryObject.make().storage))

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

describe("A table of tokens that is restored from a copy", () => {
  /** Two hosts one after the other: the second starts with the table of an earlier moment. */
  const restarted = async (store: Store, { copy, restore }: { readonly copy: () => unknown; readonly restore: () => unknown }) => {
    const { admin, check, clock, create, rotate } = make({ store })
    const made = () => create({ verbs: ["read"] })
    const [kept, revoked, rotated] = [await made(), await made(), await made()]
    const id = idIn(rotated) ?? ""
    const newer = await rotate(id)
    copy()
    await admin.revoke(idIn(revoked) ?? "")
    await admin.settle(id)
    restore()
    const next = make({ store, clock })
    const codes = await Promise.all([kept, revoked, rotated, newer].map(next.check))
    assert.deepStrictEqual(codes, [idIn(kept), "auth/revoked", "auth/missing", id])
    assert.strictEqual(await codeOf(next.admin.rotate(idIn(revoked) ?? "", undefined)), "access/absent")
    assert.strictEqual((await next.admin.list("", 10)).tokens.filter(({ revoked }) => revoked !== undefined).length, 1)
    clock.now += 10_001
    assert.strictEqual(await check(revoked), "auth/revoked")
  }

  it("revives no token and no secret on a server", () => inFolder(async (folder) => {
    const file = join(folder, "@access.sqlite")
    await restarted(HostAccess.inFolder(folder), {
      copy: () => copyFileSync(file, `${file}.backup`),
      restore: () => copyFileSync(`${file}.backup`, file)
    })
  }))

  it("revives none on Workers, where the objects are restored one by one", async () => {
    const objects = new Map<string, AccessTable.Database>()
    const databaseFor = (name: string) => {
      const known = objects.get(name) ?? databaseOf(MemoryObject.make().storage)
      objects.set(name, known)
      return known
    }
    const stub = (name: string) => ({
      tokens: async (_: string, known?: string) => AccessTable.load(databaseFor(name), known),
      saveToken: async (_: string, change: Change) => AccessTable.save(databaseFor(name), change),
      useToken: async () => {},
      withdrawn: async () => [...Withdrawn.load(databaseFor(name))],
      withdraw: async (_: string, change: Change) => Withdrawn.add(databaseFor(name), change)
    })
    const DIRECTORY = { getByName: stub } as unknown as Env["DIRECTORY"]
    let rows: ReadonlyArray<ReadonlyArray<unknown>> = []
    let revision = ""
    await restarted(storeOf({ DIRECTORY }, Redacted.make("proof")), {
      copy: () => {
        rows = databaseFor("@access").rows("SELECT id, row FROM token")
        revision = String(databaseFor("@access").rows("SELECT text FROM revision")[0]?.[0])
      },
      restore: () => {
        for (const [id, row] of rows) databaseFor("@access").rows("INSERT OR REPLACE INTO token VALUES (?, ?)", String(id), String(row))
        databaseFor("@access").rows("UPDATE revision SET text = ?", revision)
      }
    })
  })

  it("keeps the newest 10,000 withdrawn credentials, and none beyond the end of its token", () => {
    const database = databaseOf(MemoryObject.make().storage)
    const change = (now: number, withdrawn: ReadonlyArray<string>, expires = 1e12): Change =>
      ({ token: { ...token("a"), expires }, withdrawn, known: "", revision: "", now })
    Withdrawn.add(database, change(1, ["short"], 5))
    Withdrawn.add(database, change(2, Array.from({ length: Withdrawn.MAX_WITHDRAWN }, (_, i) => `d${i}`)))
    Withdrawn.add(database, change(6, ["newest"]))
    const kept = Withdrawn.load(database)
    assert.deepStrictEqual([kept.size, kept.get("newest"), kept.has("short")], [Withdrawn.MAX_WITHDRAWN, 6, false])
  })
})

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
    clock.now += 1000
    assert.match(await check(secret), /^[0-9a-v]{8}$/)
  }))
})
