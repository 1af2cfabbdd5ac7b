import { startEmulator } from '../../src/emulator/index.ts';

// The service in a process of its own: what it costs is not the exporter's.
const emulator = await startEmulator(JSON.parse(process.argv[2] ?? '{}'));
process.stdout.write(`${JSON.stringify({ url: emulator.url, apiKey: emulator.apiKey })}\n`);
