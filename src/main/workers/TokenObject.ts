/**
 * The tokens of a Worker: the database of one object, and the store that calls it.
 *
 * @module
 */
import type { Database } from "../../access/Database.ts"
import type { Store } from "../../access/TokenSet.ts"
import * as Withdrawn from "../../access/WithdrawnCredentials.ts"
import * as Redacted from "../../cell/Redacted.ts"
import type { Env, Storage } from "./Platform.ts"

/** The names of the objects of tokens, and of withdrawn credentials. They are not valid names of spaces. */
export const NAME = "@access"
const WITHDRAWN = "@withdrawn"

/** The database of an object. */
export const databaseOf = (storage: Pick<Storage, "sql" | "transactionSync">): Database => ({
  rows: (query, ...values) => storage.sql.exec(query, ...values).raw().toArray(),
  transaction: (body) => storage.transactionSync(body)
})

/**
 * The store of tokens in the objects {@link NAME} and {@link WITHDRAWN}. `proof` shows that its caller is of the same application.
 */
export const storeOf = ({ DIRECTORY }: Pick<Env, "DIRECTORY">, hidden: Redacted.Redacted): Store => {
  const proof = (): string => Redacted.value(hidden)
  return Withdrawn.combine({
    load: (known) => DIRECTORY.getByName(NAME).tokens(proof(), known),
    save: (change) => DIRECTORY.getByName(NAME).saveToken(proof(), change),
    use: (id, day) => DIRECTORY.getByName(NAME).useToken(proof(), { id, day }),
    key: (drawn) => DIRECTORY.getByName(NAME).sessionKey(proof(), drawn)
  }, {
    load: (known) => DIRECTORY.getByName(WITHDRAWN).withdrawn(proof(), known),
    add: (change) => DIRECTORY.getByName(WITHDRAWN).withdraw(proof(), change),
    spend: (spent) => DIRECTORY.getByName(WITHDRAWN).spend(proof(), spent)
  })
}
