/**
 * The field `access` of the configuration: the credentials that are accepted beside its tokens.
 *
 * @module
 */
import * as Schema from "effect/Schema"
import * as Jwt from "../contract/Jwt.ts"
import { isLoopback } from "./Secrets.ts"

/** Whether keys may be loaded from an address: nobody between may change them. */
const isSafe = (text: string): boolean => {
  if (!URL.canParse(text)) return false
  const { hostname, protocol } = new URL(text)
  return protocol === "https:" || (protocol === "http:" && isLoopback(hostname))
}

const KeysUrl = Schema.String.pipe(
  Schema.check(Schema.makeFilter(isSafe, { expected: "an address with https, such as \"https://issuer.example/jwks.json\"" }))
)
const Key = Schema.Record(Schema.String, Schema.Unknown)
const Keys = Schema.Struct({ keys: Schema.Array(Key).check(Schema.isMinLength(1), Schema.isMaxLength(Jwt.MAX_KEYS)) })

const ScopeOf = Schema.declare((value): value is Jwt.Settings["claims"] => typeof value === "function", {
  expected: "a function that gives the scope of claims"
})

const JwtFields = Schema.Struct({
  issuer: Schema.NonEmptyString,
  audience: Schema.Union([Schema.NonEmptyString, Schema.Array(Schema.NonEmptyString).check(Schema.isMinLength(1))]),
  algorithms: Schema.Array(Schema.Literals(Jwt.algorithms)).check(Schema.isMinLength(1)),
  jwks: Schema.Union([KeysUrl, Keys]),
  tolerance: Schema.optionalKey(Schema.Int.pipe(Schema.check(Schema.isBetween({ minimum: 0, maximum: Jwt.MAX_TOLERANCE })))),
  claims: ScopeOf
})

/** The fields of the configuration. */
export const Fields = Schema.Struct({ jwt: Schema.optionalKey(JwtFields) })

/** The settings of access. */
export interface AccessSettings {
  readonly jwt?: Jwt.Settings
}
