import { SETTINGS } from '../../../../settings/settings-table.ts';
import { commonSettings, proxySettings } from '../../../arguments/setting-groups.ts';
import type { Command } from '../../../program/command.ts';

/** `daywalk sessions create`: a session on a computer, on record in the warehouse. */
export const sessionsCreate: Command = {
  name: 'sessions create',
  group: { name: 'sessions', summary: 'creates sessions on connected computers' },
  summary: 'creates a session on a computer and records it in the warehouse',
  description:
    'Creates a session on a connected computer and records it in the table sessions. Each call that gets through ' +
    'makes one more session: it is repeated only where the service provably did not take the request, and where ' +
    'that is not known the message says so. The key may be an API key or a JWT.',
  uses: [
    SETTINGS.apiKey,
    SETTINGS.apiKeyFile,
    SETTINGS.orgId,
    SETTINGS.baseUrl,
    SETTINGS.warehouse,
    SETTINGS.maxRequestsPerMinute,
    SETTINGS.requestTimeoutMs,
    SETTINGS.attempts,
    ...proxySettings,
    SETTINGS.emails,
    SETTINGS.emailSalt,
    ...commonSettings,
  ],
  flags: [
    { syntax: '--computer-id <id>', doc: 'the computer; required, here or in --request' },
    { syntax: '--cwd <dir>', doc: 'working directory on the computer' },
    { syntax: '--settings <file>', doc: 'session settings as JSON; - reads standard input' },
    {
      syntax: '--request <file>',
      doc: 'the whole request as JSON, under what the flags above say; - reads standard input',
    },
    {
      syntax: '--known-identifiers <file>',
      doc: 'JSON lists providers, apiProviders, compactionModels; others warn and are sent',
    },
    { syntax: '--json', doc: 'print the session as one JSON document' },
  ],
  examples: [
    {
      line: 'daywalk sessions create --computer-id computer-1 --cwd /srv/app',
      does: 'a session with default settings',
    },
    {
      line: 'echo \'{"interactionMode":"auto","autonomyLevel":"low"}\' | daywalk sessions create --computer-id computer-1 --settings -',
      does: 'settings from standard input',
    },
  ],
  resultIsOutput: true,
  act: async (context) => {
    const { performSessionCreation } = await import('./action.ts');
    return performSessionCreation(context);
  },
};
