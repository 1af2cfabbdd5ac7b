import { startEmulator } from '../../src/emulator/index.ts';

// The service in its own process, so that its cost does not count for the exporter.
const emulator = await startEmulator(JSON.parse(process.argv[2] ?? '{}'));
process.stdout.write(`${JSON.stringify({ url: emulator.url, apiKey: emulator.apiKey })}\n`);
