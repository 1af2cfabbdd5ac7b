import { SETTINGS } from '../../../../settings/settings-table.ts';
import { commonSettings, proxySettings } from '../../../arguments/setting-groups.ts';
import { type Command, jsonFlag } from '../../../program/command.ts';

/** `daywalk sessions create`: creates a session on a computer. */
export const sessionsCreate: Command = {
  name: 'sessions create',
  group: { name: 'sessions', summary: 'creates sessions on connected computers' },
  summary: 'creates a session on a computer and records it in the warehouse',
  description:
    'Creates a session on a connected computer and records it in the table sessions. Each successful call creates ' +
    'another session. A request is therefore retried only if the service certainly did not process it. If that is ' +
    'unknown, the message says so. The key may be an API key or a JWT.',
  uses: [
    SETTINGS.apiKey,
    SETTINGS.apiKeyFile,
    SETTINGS.orgId,
    SETTINGS.organizations,
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
  flags: {
    '--organization <name>': 'the organization of the organizations file to create it in',
    '--computer-id <id>': 'ID of the computer; required here or in --request',
    '--cwd <dir>': 'working directory on the computer',
    '--settings <file>': 'JSON file with the session settings; - reads standard input',
    '--request <file>':
      'JSON file with the whole request, which the flags above override; - reads standard input',
    '--known-identifiers <file>':
      'JSON file with the lists providers, apiProviders and compactionModels; other identifiers are sent with a warning',
    ...jsonFlag,
  },
  examples: {
    'daywalk sessions create --computer-id computer-1 --cwd /srv/app': 'a session with default settings',
    'echo \'{"interactionMode":"auto","autonomyLevel":"low"}\' | daywalk sessions create --computer-id computer-1 --settings -':
      'settings from standard input',
  },
  resultIsOutput: true,
  load: () => import('./action.ts'),
};
