import { assert, describe, it } from "@effect/vitest"
import { copyFileSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import * as Redacted from "../../src/cell/Redacted.ts"
import * as AccessTable from "../../src/access/AccessTable.ts"
import type { Database } from "../../src/access/Database.ts"
import * as SessionPass from "../../src/access/SessionPass.ts"
import { LINK_MILLIS, type Sessions } from "../../src/access/Sessions.ts"
import { KEPT_MILLIS, type Token } from "../../src/access/Token.ts"
import { type Change, MAX_AGE, type Store } from "../../src/access/TokenSet.ts"
import * as Withdrawn from "../../src/access/WithdrawnCredentials.ts"
import * as HostAccess from "../../src/main/host/HostAccess.ts"
import type { DirectoryStub, Env } from "../../src/main/workers/Platform.ts"
import { databaseOf, storeOf } from "../../src/main/workers/TokenObject.ts"
import * as MemoryObject from "../main/MemoryObject.ts"
import { codeOf, DAY, idIn, make } from "./TestTokens.ts"

const token = (id: string): Token => ({ id, verbs: ["read"], created: 0, expires: 10, digests: ["0".repeat(64)] })

const inFolder = async (run: (folder: string) => Promise<void>): Promise<void> => {
  const folder = mkdtempSync(join(tmpdir(), "systole-access-"))
  try {
    await run(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The store of a Worker, over objects with databases in memory. */
const inObjects = () => {
  const databases = new Map<string, Database>()
  const databaseOfObject = (name: string): Database => {
    const known = databases.get(name) ?? databaseOf(MemoryObject.make().storage)
    databases.set(name, known)
    return known
  }
  const stub = (name: string): Omit<DirectoryStub, "add" | "list" | "remove"> => {
    const database = databaseOfObject(name)
    return {
      tokens: async (_, known) => AccessTable.load(database, known),
      saveToken: async (_, change) => AccessTable.save(database, change),
      useToken: async (_, { day, id }) => AccessTable.use(database, id, day),
      withdrawn: async (_, known) => Withdrawn.load(database, known),
      withdraw: async (_, change) => Withdrawn.add(database, change),
      sessionKey: async (_, drawn) => AccessTable.key(database, drawn),
      spend: async (_, spent) => Withdrawn.spend(database, spent)
    }
  }
  const DIRECTORY = { getByName: stub } as unknown as Env["DIRECTORY"]
  return { store: storeOf({ DIRECTORY }, Redacted.make("proof")), access: databaseOfObject("@access") }
}

/** The promises of each store. */
const suite = (name: string, using: (run: (store: Store) => Promise<void>) => Promise<void>): void => {
  describe(`The store of tokens in ${name}`, () => {
    it("keeps the tokens of the newest revision, and tells nothing of a known one", () => using(async (store) => {
      assert.deepStrictEqual(await store.load(), { revision: "", tokens: [], spent: {} })
      assert.isUndefined(await store.load(""))
      assert.strictEqual(await store.save({ token: token("b"), known: "", revision: "1", now: 0 }), "saved")
      assert.strictEqual(await store.save({ token: token("a"), known: "1", revision: "2", now: 0 }), "saved")
      assert.deepStrictEqual(await store.load("1"), { revision: "2", tokens: [token("a"), token("b")], spent: {} })
      assert.isUndefined(await store.load("2"))
    }))

    it("refuses a change that another one preceded, and changes nothing", () => using(async (store) => {
      await store.save({ token: token("a"), known: "", revision: "1", now: 0 })
      assert.strictEqual(await store.save({ token: { ...token("a"), revoked: 1 }, known: "", revision: "2", now: 0 }), "changed")
      assert.deepStrictEqual(await store.load(), { revision: "1", tokens: [token("a")], spent: {} })
    }))

    it("forgets expired tokens with the next change, and notes uses without one", () => using(async (store) => {
      await store.use("a", "2026-11-27")
      await store.save({ token: token("a"), known: "", revision: "1", now: 0 })
      await store.use("a", "2026-11-27")
      assert.deepStrictEqual(await store.load(), { revision: "1", tokens: [{ ...token("a"), used: "2026-11-27" }], spent: {} })
      await store.save({ token: { ...token("b"), expires: 20 }, known: "1", revision: "2", now: 10 })
      assert.deepStrictEqual((await store.load())?.tokens.map(({ id }) => id), ["b"])
    }))
  })
}

suite("a data folder", (run) => inFolder((folder) => run(HostAccess.inFolder(join(folder, "data")))))
suite("memory", (run) => run(HostAccess.inMemory()))
suite("objects", (run) => run(inObjects().store))

/** The operator, and its sessions. */
const operator = { name: "operator", digest: "d" }
const owner = { digests: ["d"], access: {} }

/** The code of the refusal of a pass. */
const told = async (sessions: Sessions, pass: Redacted.Redacted): Promise<string> => {
  const found = await sessions.access(SessionPass.read(pass) ?? assert.fail("no pass"), () => owner)
  return "refused" in found ? found.refused.code : "ok"
}

/** The id and the end of a pass. */
const shown = (pass: Redacted.Redacted) => {
  const { expires, id } = SessionPass.read(pass) ?? assert.fail("no pass")
  return { name: "operator", id, until: expires }
}

describe("A table of tokens that is restored from a copy", () => {
  /** Hosts beside and after the one that ends credentials: one that knows the table of the copy, and one that starts with it. */
  const restarted = async (store: Store, { copy, restore }: { readonly copy: () => unknown; readonly restore: () => unknown }) => {
    const { admin, check, clock, create, rotate, sessions } = make({ store })
    const made = () => create({ verbs: ["read"] })
    const begun = async (kind: SessionPass.Kind, millis = DAY) => (await sessions.make(kind, operator, millis)).pass
    const [kept, revoked, rotated] = [await made(), await made(), await made()]
    const [open, ended, link] = [await begun("cookie"), await begun("cookie"), await begun("link", LINK_MILLIS)]
    const id = idIn(rotated) ?? ""
    const newer = await rotate(id)
    copy()
    const idle = make({ store, clock })
    assert.deepStrictEqual([await idle.check(revoked), await told(idle.sessions, ended)], [idIn(revoked), "ok"])
    await admin.revoke(idIn(revoked) ?? "")
    await admin.settle(id)
    assert.deepStrictEqual([await sessions.end(shown(ended), DAY), await sessions.end(shown(link), LINK_MILLIS)], [true, true])
    restore()
    const next = make({ store, clock })
    const codes = await Promise.all([kept, revoked, rotated, newer].map(next.check))
    assert.deepStrictEqual(codes, [idIn(kept), "auth/revoked", "auth/missing", id])
    const passes = await Promise.all([open, ended, link].map((pass) => told(next.sessions, pass)))
    assert.deepStrictEqual(passes, ["ok", "auth/expired", "auth/expired"])
    assert.isFalse(await next.sessions.end(shown(link), LINK_MILLIS), "the link was used")
    assert.strictEqual(await codeOf(next.admin.rotate(idIn(revoked) ?? "", undefined)), "access/absent")
    assert.strictEqual((await next.admin.list("", 10)).tokens.filter(({ revoked }) => revoked !== undefined).length, 1)
    clock.now += 10_001
    assert.strictEqual(await check(revoked), "auth/revoked")
    assert.deepStrictEqual([await idle.check(revoked), await told(idle.sessions, ended)], ["auth/revoked", "auth/expired"])
  }

  it("revives no token, secret, session or link on a server", () => inFolder(async (folder) => {
    const file = join(folder, "@access.sqlite")
    await restarted(HostAccess.inFolder(folder), {
      copy: () => copyFileSync(file, `${file}.backup`),
      restore: () => copyFileSync(`${file}.backup`, file)
    })
  }))

  it("revives none on Workers, where the objects are restored one by one", async () => {
    const { access, store } = inObjects()
    let rows: ReadonlyArray<ReadonlyArray<unknown>> = []
    let revision = ""
    await restarted(store, {
      copy: () => {
        rows = access.rows("SELECT id, row FROM token")
        revision = String(access.rows("SELECT text FROM revision")[0]?.[0])
      },
      restore: () => {
        for (const [id, row] of rows) access.rows("INSERT OR REPLACE INTO token VALUES (?, ?)", String(id), String(row))
        access.rows("UPDATE revision SET text = ?", revision)
      }
    })
  })

  it("still has the passes that an earlier version noted there, until their ends", () => inFolder(async (folder) => {
    const store = HostAccess.inFolder(folder)
    const { clock, create, sessions } = make({ store })
    const { pass } = await sessions.make("cookie", operator, DAY)
    const { id, until } = shown(pass)
    const database = new DatabaseSync(join(folder, "@access.sqlite"))
    const entries = () => database.prepare("SELECT count(*) AS count FROM spent").get()?.["count"]
    database.exec("CREATE TABLE spent (id TEXT PRIMARY KEY, expires INTEGER NOT NULL) STRICT, WITHOUT ROWID")
    database.exec(`INSERT INTO spent VALUES ('${id}', ${until})`)
    assert.strictEqual(await told(make({ store, clock }).sessions, pass), "auth/expired")
    await create({ verbs: ["read"] })
    assert.strictEqual(entries(), 1)
    clock.now = until + KEPT_MILLIS
    await create({ verbs: ["read"] })
    assert.strictEqual(entries(), 0)
    database.close()
  }))

  it("keeps the newest 10,000 withdrawn credentials beside its passes, and none long beyond the end of its token", () => {
    const database = databaseOf(MemoryObject.make().storage)
    const change = (now: number, withdrawn: ReadonlyArray<string>, expires = 1e12): Change =>
      ({ token: { ...token("a"), expires }, withdrawn, known: "", revision: "", now })
    Withdrawn.add(database, change(1, ["short"], 5))
    Withdrawn.add(database, change(2, Array.from({ length: Withdrawn.MAX_WITHDRAWN }, (_, i) => `d${i}`)))
    const now = 5 + KEPT_MILLIS
    Withdrawn.add(database, change(now, ["newest"]))
    const { credentials } = Withdrawn.load(database) ?? Withdrawn.none
    const kept = [Object.keys(credentials).length, credentials["newest"], credentials["short"]]
    assert.deepStrictEqual(kept, [Withdrawn.MAX_WITHDRAWN, now, undefined])
  })
})

describe("A clock that was ten minutes fast and is set back", () => {
  it("revives no session, link or token that ended early", async () => {
    const first = make()
    const { admin, clock, create, sessions, store } = first
    const hosts = [first, make({ store, clock })]
    const minute = 60_000
    const begun = async (kind: SessionPass.Kind, millis: number) => (await sessions.make(kind, operator, millis)).pass
    const [ended, link, later] = [await begun("cookie", 5 * minute), await begun("link", LINK_MILLIS), await begun("cookie", DAY)]
    const revoked = await create({ verbs: ["read"], expires: "5m" })
    for (const pass of [ended, link]) await sessions.end(shown(pass), minute)
    await admin.revoke(idIn(revoked) ?? "")
    clock.now += 10 * minute
    // Each change removes the rows that are over.
    await sessions.end(shown(later), minute)
    await create({ verbs: ["read"] })
    for (const { sessions } of hosts) assert.strictEqual(await told(sessions, later), "auth/expired")
    clock.now -= 10 * minute
    for (const host of [...hosts, make({ store, clock })]) {
      assert.deepStrictEqual([await told(host.sessions, ended), await told(host.sessions, link)], ["auth/expired", "auth/expired"])
      assert.include(["auth/missing", "auth/revoked"], await host.check(revoked))
      assert.isFalse(await host.sessions.end(shown(link), LINK_MILLIS), "the link was used")
    }
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

  it("has the key of all sessions: another file in its place ends them, and those that begin then hold", () => inFolder(async (folder) => {
    const store = HostAccess.inFolder(folder)
    const { clock, create, sessions } = make({ store })
    await create({ verbs: ["read"] })
    const { pass } = await sessions.make("cookie", operator, DAY)
    assert.strictEqual(await told(sessions, pass), "ok")
    rmSync(join(folder, "@access.sqlite"))
    clock.now += MAX_AGE + 1
    assert.strictEqual(await told(sessions, pass), "auth/missing")
    const { pass: next } = await sessions.make("cookie", operator, DAY)
    for (const host of [sessions, make({ store, clock }).sessions]) {
      assert.deepStrictEqual([await told(host, next), await told(host, pass)], ["ok", "auth/missing"])
    }
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
