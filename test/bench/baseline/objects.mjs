// Durable objects written by hand for one task: an event changes a cell and leaves a receipt.
// /peer commits the event and then its result, /peer1 both at once, /echo nothing.
// /chain commits an event, each of its ten steps in a turn of its own, and its result.
import { DurableObject } from "cloudflare:workers"

class Handled extends DurableObject {
  constructor(state, env) {
    super(state, env)
    this.sql = state.storage.sql
    this.sql.exec("CREATE TABLE IF NOT EXISTS event (id TEXT PRIMARY KEY, text TEXT NOT NULL) STRICT, WITHOUT ROWID")
    this.sql.exec("CREATE TABLE IF NOT EXISTS cell (key TEXT PRIMARY KEY, text TEXT NOT NULL) STRICT, WITHOUT ROWID")
    this.sql.exec("CREATE TABLE IF NOT EXISTS receipt (id TEXT PRIMARY KEY, text TEXT NOT NULL) STRICT, WITHOUT ROWID")
  }

  async fetch(request) {
    const text = await request.text()
    const { id, payload, target } = JSON.parse(text)
    const [known] = this.sql.exec("SELECT text FROM receipt WHERE id = ?", id).raw().toArray()
    if (known !== undefined) return new Response(known[0])
    this.sql.exec("INSERT OR IGNORE INTO event VALUES (?, ?)", id, text)
    await this.accepted()
    const [before] = this.sql.exec("SELECT text FROM cell WHERE key = ?", target).raw().toArray()
    const value = { last: payload.n, n: (before === undefined ? 0 : JSON.parse(before[0]).n) + 1 }
    this.sql.exec("INSERT OR REPLACE INTO cell VALUES (?, ?)", target, JSON.stringify(value))
    const receipt = JSON.stringify({ id, status: "handled", value: { out: value.n } })
    this.sql.exec("INSERT INTO receipt VALUES (?, ?)", id, receipt)
    return new Response(receipt, { headers: { "content-type": "application/json" } })
  }
}

export class Peer extends Handled {
  accepted() {
    return this.ctx.storage.sync()
  }
}

export class Peer1 extends Handled {
  accepted() {}
}

export class Chain extends DurableObject {
  constructor(state, env) {
    super(state, env)
    this.sql = state.storage.sql
    this.sql.exec("CREATE TABLE IF NOT EXISTS event (id TEXT PRIMARY KEY, text TEXT NOT NULL, result TEXT) STRICT, WITHOUT ROWID")
    this.sql.exec(
      "CREATE TABLE IF NOT EXISTS step (chain TEXT, step INTEGER, result TEXT, PRIMARY KEY (chain, step)) STRICT, WITHOUT ROWID"
    )
  }

  async fetch(request) {
    const text = await request.text()
    const { id, payload } = JSON.parse(text)
    this.sql.exec("INSERT INTO event (id, text) VALUES (?, ?)", id, text)
    await this.ctx.storage.sync()
    let value = payload.n
    for (let step = 0; step < 10; step++) {
      value += 1
      this.sql.exec("INSERT INTO step VALUES (?, ?, ?)", id, step, String(value))
      await this.ctx.storage.sync()
    }
    this.sql.exec("UPDATE event SET result = ? WHERE id = ?", String(value), id)
    return Response.json({ id, value })
  }
}

export class Echo extends DurableObject {
  async fetch(request) {
    const { id } = await request.json()
    return Response.json({ id })
  }
}

export default {
  fetch(request, env) {
    const objects = { "/peer": env.PEER, "/peer1": env.PEER1, "/chain": env.CHAIN, "/echo": env.ECHO }[new URL(request.url).pathname]
    return objects.getByName("bench").fetch(request)
  }
}
