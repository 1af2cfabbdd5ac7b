// The two parts of undici that are needed. Its index loads fetch, caches and sockets of all kinds too, and that takes
// longer than the first answer.
import Client from 'undici/lib/dispatcher/client.js';
import Pool from 'undici/lib/dispatcher/pool.js';

export { Client, Pool };

/** The agent that tunnels through a proxy, from the index, which its CONNECT needs; loaded where there is a proxy. */
export async function loadProxyAgent() {
  return (await import('undici')).default.EnvHttpProxyAgent;
}
