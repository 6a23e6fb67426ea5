import { assert, describe, it } from "@effect/vitest"
import * as BackupName from "../../src/archive/BackupName.ts"

const day = 86_400_000

const name = (chain: number, n: number, at: number): string =>
  BackupName.write({ chain, n, at, isEncrypted: false, end: { beat: 1234, hash: "0f3c91ab5e77d2040f3c91ab5e77d204" } })

describe("The name of a backup", () => {
  it("tells its chain, its number, its beat and its time", () => {
    const file = name(1, 2, Date.UTC(2026, 10, 28, 8, 55, 12, 123))
    assert.strictEqual(file, "000001-0002-1234-0f3c91ab5e77d204-20261128T085512123Z.frame")
    assert.deepStrictEqual(BackupName.read(file), {
      file, chain: 1, n: 2, at: Date.UTC(2026, 10, 28, 8, 55, 12, 123), isEncrypted: false, end: { beat: 1234, hash: "0f3c91ab5e77d204" }
    })
    assert.deepInclude(BackupName.read(`${name(1, 2, 0)}.age`), { isEncrypted: true, n: 2 })
  })

  it("is not that of another file, or of one that is not whole", () => {
    const first = name(1, 0, 0)
    for (const file of ["", "home.frame", `${first}.partial`, first.replace("19700101T", "19701301T"), `x${first}`]) {
      assert.isUndefined(BackupName.read(file), file)
    }
  })

  it("sorts as the backups were made, whatever the clock said", () => {
    const files = [name(1, 0, 9 * day), name(1, 1, 3 * day), name(1, 10, 2 * day), name(2, 0, day)]
    assert.deepStrictEqual(BackupName.all([...files].reverse()).map(({ file }) => file), files)
    const twice = [name(1, 1, 2 * day).replace("-1234-", "-999-"), name(1, 1, day)]
    assert.deepStrictEqual(BackupName.all([...twice].reverse()).map(({ file }) => file), twice)
    assert.deepStrictEqual(BackupName.next(BackupName.all(files), true), { chain: 2, n: 1 })
    assert.deepStrictEqual(BackupName.next(BackupName.all(files), false), { chain: 3, n: 0 })
    assert.deepStrictEqual(BackupName.next([], false), { chain: 1, n: 0 })
  })
})

describe("The expiry of backups", () => {
  const chains = BackupName.all([name(1, 0, 0), name(1, 1, day / 2), name(2, 0, day), name(2, 1, 1.5 * day), name(3, 0, 2 * day)])
  const gone = (cutoff: number) => BackupName.expired(chains, cutoff).map(({ chain, n }) => [chain, n])

  it("takes the oldest chain, from its end, once each state to keep is in later ones", () => {
    assert.deepStrictEqual(gone(day - 1), [])
    assert.deepStrictEqual(gone(day), [[1, 1], [1, 0]])
  })

  it("takes one chain at a time, and never the last one", () => {
    assert.deepStrictEqual(gone(Infinity), [[1, 1], [1, 0]])
    assert.deepStrictEqual(BackupName.expired(BackupName.all([name(7, 0, 0), name(7, 1, 1)]), Infinity), [])
    assert.deepStrictEqual(BackupName.expired([], Infinity), [])
  })
})
