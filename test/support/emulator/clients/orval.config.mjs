export default {
  emulator: {
    input: 'openapi.json',
    output: { target: 'client.ts', client: 'fetch', mode: 'single', baseUrl: process.env.EMULATOR_URL },
  },
};
