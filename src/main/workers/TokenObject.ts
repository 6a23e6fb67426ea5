/**
 * The tokens of a Worker: the database of one object, and the store that calls it.
 *
 * @module
 */
import type * as AccessTable from "../../access/AccessTable.ts"
import type { Store } from "../../access/TokenSet.ts"
import * as Withdrawn from "../../access/Withdrawn.ts"
import * as Redacted from "../../cell/Redacted.ts"
import type { Env, Storage } from "./Platform.ts"

/** The names of the objects of tokens, and of withdrawn ones. They are not valid names of spaces. */
export const NAME = "@access"
const WITHDRAWN = "@withdrawn"

/** The database of an object. */
export const databaseOf = (storage: Pick<Storage, "sql" | "transactionSync">): AccessTable.Database => ({
  rows: (query, ...values) => storage.sql.exec(query, ...values).raw().toArray(),
  transaction: (body) => storage.transactionSync(body)
})

/**
 * The store of tokens in the object {@link NAME}. `proof` shows that its caller is of the same application.
 */
export const storeOf = ({ DIRECTORY }: Pick<Env, "DIRECTORY">, proof: Redacted.Redacted): Store => ({
  load: async (known) => {
    const snapshot = await DIRECTORY.getByName(NAME).tokens(Redacted.value(proof), known)
    return snapshot && Withdrawn.applied(snapshot, new Map(await DIRECTORY.getByName(WITHDRAWN).withdrawn(Redacted.value(proof))))
  },
  save: async (change) => {
    if (Withdrawn.isOf(change)) await DIRECTORY.getByName(WITHDRAWN).withdraw(Redacted.value(proof), change)
    return DIRECTORY.getByName(NAME).saveToken(Redacted.value(proof), change)
  },
  use: async (id, day) => DIRECTORY.getByName(NAME).useToken(Redacted.value(proof), { id, day }),
  key: async (drawn) => DIRECTORY.getByName(NAME).sessionKey(Redacted.value(proof), drawn),
  spend: async (spent) => DIRECTORY.getByName(NAME).spend(Redacted.value(proof), spent)
})
