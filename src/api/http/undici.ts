// Imports only the two parts of undici that are needed. Its index also loads fetch, caches and sockets of all kinds, which
// takes longer than the first answer.
import Client from 'undici/lib/dispatcher/client.js';
import Pool from 'undici/lib/dispatcher/pool.js';

export { Client, Pool };

/** Loads the agent that tunnels through a proxy. Its CONNECT needs undici's index, so it is loaded only for a proxy. */
export async function loadProxyAgent() {
  return (await import('undici')).default.EnvHttpProxyAgent;
}
