import { assert, describe, it } from "@effect/vitest"
import {
  Address, BeatAborted, IdReused, InboxFull, InvalidOperation, InvalidSignal, OperationAbsent, OperationClosed, OperationHeld,
  PersistenceError, SpaceStopped, WriteRefused
} from "systole"
import * as PersistenceErrors from "../../src/persistence/PersistenceError.ts"
import { InvalidValue } from "../../src/cell/Value.ts"
import * as Problem from "../../src/ingress/wire/Problem.ts"

const store = (reason: PersistenceError["reason"]) => new PersistenceError({ reason })
const at = { space: "shop", place: "memory" }

const expected: ReadonlyArray<readonly [Error, number]> = [
  [new Address.InvalidAddress({ text: "x", reason: "it is none" }), 400],
  [new InvalidValue({ at: "", reason: "it is none" }), 400],
  [new InvalidSignal({ reason: "it is none" }), 400],
  [store(new PersistenceErrors.InvalidSpaceName({ space: "X" })), 400],
  [new WriteRefused({ address: "/rt/x", reason: "it is the runtime's" }), 403],
  [store(new PersistenceErrors.NoSuchSpace({ space: "shop" })), 404],
  [new BeatAborted({ beat: 1, enzyme: "e", signal: "/s", reason: "no" }), 409],
  [new InvalidOperation({ reason: "it is none" }), 400],
  [new OperationAbsent({ oid: "OPS:1.0.0" }), 404],
  [new OperationClosed({ oid: "OPS:1.0.0", status: "sts:ok" }), 409],
  [new OperationHeld({ oid: "OPS:io" }), 409],
  [new IdReused({ id: "a" }), 422],
  [new InboxFull({ space: "shop", limit: "2 signals" }), 429],
  [new SpaceStopped({ space: "shop", reason: "it was closed" }), 503],
  [store(new PersistenceErrors.StoreLocked(at)), 503],
  [store(new PersistenceErrors.StoreDamaged({ ...at, detail: "no database" })), 503],
  [store(new PersistenceErrors.StaleWriter({ space: "shop", epoch: 1, current: 2 })), 503],
  [store(new PersistenceErrors.BeatConflict({ space: "shop", beat: 1, head: 2 })), 503],
  [store(new PersistenceErrors.StoreUnavailable({ ...at, detail: "the disk is full" })), 503]
]

describe("Problem", () => {
  it.each(expected)("maps %s to the status %i with its code and message", async (failure, status) => {
    const response = Problem.response(failure)
    const problem = await response.json() as Problem.Problem
    assert.strictEqual(response.status, status)
    assert.strictEqual(response.headers.get("content-type"), "application/problem+json")
    assert.strictEqual(problem.status, status)
    assert.isTrue(problem.detail === failure.message || status === 503)
    assert.strictEqual(problem.code, (failure as Error & { readonly code: string }).code)
    assert.isAbove(problem.title.length, 0)
  })

  it("hides the details of a failed store or space", () => {
    const foreign = ["/var/lib", "disk I/O error", "SQLITE"]
    const said = foreign.join(" ")
    const reasons: ReadonlyArray<PersistenceError["reason"]> = [
      new PersistenceErrors.StoreLocked({ space: "shop", place: said }),
      new PersistenceErrors.StoreDamaged({ space: "shop", place: said, detail: said }),
      new PersistenceErrors.StoreUnavailable({ space: "shop", place: said, detail: said })
    ]
    for (const failure of [new SpaceStopped({ space: "shop", reason: said }), ...reasons.map(store)]) {
      const { detail, status } = Problem.of(failure)
      assert.strictEqual(status, 503)
      assert.include(detail, '"shop"')
      for (const word of foreign) assert.notInclude(detail, word)
    }
  })

  it("sets retry-after for temporary failures", () => {
    for (const [failure, status] of expected) {
      assert.strictEqual(Problem.response(failure).headers.get("retry-after"), status === 429 || status === 503 ? "1" : null)
    }
  })

  it("sets www-authenticate for a missing token", () => {
    const refused = new Problem.RequestRefused({ code: "auth/missing", reason: "no token" })
    assert.strictEqual(Problem.response(refused).headers.get("www-authenticate"), "Bearer")
  })

  it("hides the details of an unexpected failure", async () => {
    const accidents: ReadonlyArray<unknown> =
      [new TypeError("secret of /etc"), "secret", undefined, { code: "inbox/full", message: "secret" }, Object.assign(
        new Error("secret"),
        { code: "EACCES" }
      )]
    for (const failure of accidents) {
      const response = Problem.response(failure)
      assert.strictEqual(response.status, 500)
      assert.notInclude(await response.text(), "secret")
    }
  })
})
