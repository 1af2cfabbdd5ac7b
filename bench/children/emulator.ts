import { startEmulator } from '../../src/emulator/emulator.ts';

// Runs the service in its own process, so that its cost is not measured as part of the exporter.
const emulator = await startEmulator(JSON.parse(process.argv[2] ?? '{}'));
process.stdout.write(`${JSON.stringify({ url: emulator.url, apiKey: emulator.apiKey })}\n`);
