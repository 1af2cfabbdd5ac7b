import { exchange } from './exchange.ts';
import { type EmulatorOptions, resolveOptions } from './options.ts';
import { listen } from './server.ts';
import { openService } from './service.ts';

export async function startEmulator(options: EmulatorOptions) {
  const resolved = resolveOptions(options);
  const service = openService(resolved);
  const server = await listen(
    exchange({ seed: resolved.seed, service, latencyMs: () => resolved.latencyMs }),
    resolved,
  );
  return {
    url: server.url,
    apiKey: service.keys.owner,
    orgId: service.orgId,
    keys: service.keys,
    setQuirks: service.setQuirks,
    close: server.close,
  };
}
