/**
 * Fields of the configuration for durations: a number of units, or a time such as `"10s"`.
 *
 * @module
 */
import * as Schema from "effect/Schema"
import * as Duration from "../time/Duration.ts"

/** The field for a duration of a number of units, of so many milliseconds each. */
export const of = (units: string, bounds: readonly [least: number, most: number], unit = 1): Schema.declare<Duration.Given> =>
  Schema.declare((value): value is Duration.Given => Duration.isWithin(value, bounds, unit), {
    expected: `${units} from ${bounds[0]} to ${bounds[1]}, or a time such as "10s"`
  })

/** Fields with their durations of milliseconds as numbers. */
export const inMillis = <A extends { readonly [name: string]: Duration.Given }>(given: A): { readonly [_ in keyof A]: number } =>
  Object.fromEntries(Object.entries(given).map(([name, value]) => [name, Duration.amountOf(value)])) as { readonly [_ in keyof A]: number }
