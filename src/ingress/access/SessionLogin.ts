/**
 * The page that begins a session by a link.
 *
 * The link is in the fragment of the URL, which a browser sends to nobody: no log and no `Referer` has it. The page takes it out of
 * the history, and uses it when a person says so, since a program that looks at links in messages would use it up.
 *
 * Its own requests are relative to its URL, because a proxy may serve a server below a prefix.
 *
 * @module
 */
import { sha256 } from "../../cell/Digest.ts"

const script = `
const said = document.getElementById("said")
const button = document.getElementById("begin")
const link = location.hash.slice(1)
history.replaceState(null, "", location.pathname)
if (link === "") said.textContent = "This page needs the whole link that systole login printed."
else if (!isSecureContext) {
  said.textContent = "A browser keeps no session of this address, which is without TLS. Open the link at https, or at 127.0.0.1 in " +
    "place of " + location.hostname + "."
} else {
  button.hidden = false
  button.focus()
}
button.onclick = async () => {
  button.disabled = true
  const response = await fetch("../session", { method: "POST", headers: { authorization: "Bearer " + link } }).catch(() => undefined)
  const answer = await response?.json().catch(() => undefined)
  const isKept = response?.ok && (await fetch("../session").catch(() => undefined))?.ok === true
  if (response?.ok && !isKept) said.textContent = "This browser keeps no cookie of this server, so it has no session."
  else if (response?.ok && document.body.dataset.next) location.replace(document.body.dataset.next)
  else if (response?.ok) said.textContent = "You are logged in until " + new Date(answer.expires).toLocaleString() + "."
  else said.textContent = answer?.detail ?? "The server does not answer. Open the link again."
  button.hidden = response?.ok === true
  button.disabled = response !== undefined
}
`

const html = (next: string): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Log in</title>
<link rel="icon" href="data:,">
<style>:root { color-scheme: light dark; font: 17px/1.5 system-ui, sans-serif } body { max-width: 30rem; margin: 3rem auto }</style>
<body data-next="${next}">
<h1>Log in</h1>
<p id="said">This browser gets a session of this server.</p>
<button id="begin" hidden>Log in</button>
<script type="module">${script}</script>
</body>
</html>
`

const policy = `default-src 'none'; script-src 'sha256-${sha256(script, "base64")}'; style-src 'unsafe-inline'; img-src data:; ` +
  "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/**
 * The page. It leads to the page of the project at its root, if there is one.
 */
export const answer = (hasHome: boolean): Response =>
  new Response(html(hasHome ? "../../" : ""), {
    headers: {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": policy,
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
      "cache-control": "no-store"
    }
  })
