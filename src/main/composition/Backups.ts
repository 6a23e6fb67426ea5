/**
 * The scheduled backups of a project.
 *
 * @module
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Effect from "effect/Effect"
import { resolve } from "node:path"
import * as BackupFolder from "../../archive/BackupFolder.ts"
import { BackupSchedule, type Parts } from "../../archive/BackupSchedule.ts"
import * as Encryption from "../../archive/Encryption.ts"
import type { BackupSettings } from "../../loader/BackupSettings.ts"
import { InvalidConfig } from "../../loader/InvalidConfig.ts"
import type { SecretPlace } from "../../loader/PluginOptions.ts"
import * as KeyPlace from "../host/KeyPlace.ts"

/** The recipients at a place, or the one that stands in the configuration. */
const recipientsAt = (root: string, place: string | SecretPlace): Effect.Effect<ReadonlyArray<string>, InvalidConfig> => {
  if (typeof place === "string") return Effect.succeed([place])
  const name = "env" in place ? `the variable ${place.env}` : `the file ${place.file}`
  return Effect.try({
    try: () => Encryption.keysIn(KeyPlace.reader(root)(place)),
    catch: (error) => {
      const { code } = error as NodeJS.ErrnoException
      return new InvalidConfig({ reason: `backup.encrypt names ${name}, which cannot be read (${String(code)})` })
    }
  }).pipe(Effect.filterOrFail(
    (keys) => keys.length > 0,
    () => new InvalidConfig({ reason: `backup.encrypt names ${name}, which has no recipient. Write a line with age1…` })
  ))
}

const encryption = (root: string, places: BackupSettings["encrypt"]): Effect.Effect<Encryption.Encrypt | undefined, InvalidConfig> =>
  Effect.gen(function*() {
    if (places.length === 0) return undefined
    const recipients = (yield* Effect.forEach(places, (place) => recipientsAt(root, place))).flat()
    return yield* Effect.mapError(
      Encryption.encryptTo(recipients, "backup.encrypt"),
      ({ message }) => new InvalidConfig({ reason: message })
    )
  })

/** The services of backups without those that the settings make. */
type Services = Omit<Parts, "encrypt" | "folder">

/** Makes backups as they become due, for ever. Fails for recipients that cannot be used. */
export const open = (root: string, settings: BackupSettings, services: Services): Effect.Effect<BackupSchedule, InvalidConfig> =>
  Effect.gen(function*() {
    const encrypt = yield* encryption(root, settings.encrypt)
    const folder = yield* BackupFolder.make(resolve(root, settings.to), services.hash)
    return new BackupSchedule({ ...services, folder, encrypt }, settings)
  }).pipe(Effect.provide(NodeServices.layer))
