import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Codec from "../../../src/contract/Codec.ts"
import type { Face } from "../../../src/contract/Face.ts"
import * as Fields from "../../../src/contract/Fields.ts"
import { face as runs } from "../../../src/durable/Face.ts"
import { face as flows } from "../../../src/flow/Face.ts"
import * as SpaceFace from "../../../src/kernel/api/SpaceFace.ts"
import { face as operations } from "../../../src/operation/Face.ts"
import { face as requests } from "../../../src/reactor/Face.ts"
import { face as rendezvous } from "../../../src/rendezvous/Face.ts"

const faces: ReadonlyArray<Face> = [operations, rendezvous, flows, requests, runs] as never

type Execute = (...args: ReadonlyArray<unknown>) => Effect.Effect<unknown, { readonly code: string }>

/** The API of a face whose commands record their bodies. */
const clientOf = (face: Face) => {
  const taken: Array<unknown> = []
  const commands = Object.fromEntries(Object.keys(face.verbs).map((name) => [name, (body: unknown) => void taken.push(body)]))
  const submit = (make: () => unknown) => Effect.try({ try: make, catch: (error) => error as { readonly code: string } }).pipe(
    Effect.as({ beat: 3, reply: "made" })
  )
  const access = { use: (see: (space: unknown) => unknown) => see({ commands: { submit } }) }
  const client = SpaceFace.make({ face, commands } as never, access as never) as unknown as Readonly<Record<string, Execute>>
  return { taken, client }
}

const verbs = faces.flatMap((face) =>
  Object.entries(face.verbs).map(([verb, { on }]) => ({ name: `${face.ledger} ${verb}`, verb, on, face })))

/** A body of values by their types, with or without optional fields. */
const bodyOf = (face: Face, verb: string, optional: boolean): object => {
  const values = { text: "x", number: 1, amount: "10s", flag: true, json: { a: 1 } }
  return Object.fromEntries(Fields.of(face.verbs[verb]?.body).map(({ isOptional, name, type }) =>
    [name, isOptional && !optional ? undefined : values[type]]))
}

describe("The API of a ledger", () => {
  it.effect.each(verbs)("takes the present fields of $name, and answers the id and the beat", ({ face, on, verb }) =>
    Effect.gen(function*() {
      const { client, taken } = clientOf(face)
      const id = on === "record" ? ["some"] : []
      for (const optional of [false, true]) {
        const answer = yield* client[verb]!(...id, bodyOf(face, verb, optional))
        assert.deepInclude(answer as object, { [face.records.id]: on === "record" ? "some" : "made", beat: 3 })
      }
      const given = Object.entries(bodyOf(face, verb, false)).filter(([, value]) => value !== undefined)
      assert.deepStrictEqual(taken[0], Object.fromEntries(given))
    }))

  it.effect.each(verbs.filter(({ on }) => on === "record"))("finds no record for $name by an id of another type", ({ face, verb }) =>
    Effect.gen(function*() {
      for (const id of [undefined, null, 3, {}, Object.create(null) as object, Symbol("id")]) {
        const refused = yield* Effect.flip(clientOf(face).client[verb]!(id, {}))
        assert.strictEqual(refused.code, (face.records.absent("x") as unknown as { readonly code: string }).code)
      }
    }))

  it.effect("takes tokens from workers alone", () =>
    Effect.gen(function*() {
      const { client, taken } = clientOf(rendezvous as never)
      yield* client["report"]!("job", { token: "abc", telemetry: 1 })
      assert.deepStrictEqual(taken, [{ telemetry: 1, token: "abc" }])
      assert.strictEqual((yield* Effect.flip(client["kill"]!("job", { token: "abc" }))).code, "rv/invalid")
    }))

  it.effect("takes a decoded body as it is, and no body that another verb decoded", () =>
    Effect.gen(function*() {
      const { client, taken } = clientOf(rendezvous as never)
      const { kill, report } = rendezvous.verbs
      const body = Codec.decode(kill.body, { wait: 1 }) as object
      yield* client["kill"]!("job", body)
      assert.strictEqual(taken[0], body)
      const other = Codec.decode(report.body, { telemetry: 1 }) as object
      assert.strictEqual((yield* Effect.flip(client["kill"]!("job", other))).code, "rv/invalid")
    }))
})
