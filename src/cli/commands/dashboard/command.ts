import { dashboardSettings } from '../../arguments/setting-groups.ts';
import { type Command, jsonFlag } from '../../program/command.ts';

/** `daywalk dashboard`: the warehouse in a browser. */
export const dashboard: Command = {
  name: 'dashboard',
  summary: 'shows the warehouse in a browser',
  description:
    'Serves pages about credits, adoption, models, people, teams, tools, output, readiness and the stored days. Each number ' +
    'has the SQL that it comes from. Opens the warehouse for reading only, also while a run writes to it. When it is ready, ' +
    'it prints its address; it runs until it is stopped. Beyond this machine it needs a token, with which people log in; ' +
    'https is the work of a proxy in front of it.',
  uses: dashboardSettings,
  flags: {
    '--port <port>': 'TCP port; 0 chooses a free one (default: that of --listen)',
    ...jsonFlag,
  },
  examples: {
    'daywalk dashboard': 'on http://127.0.0.1:4000',
    'daywalk dashboard --warehouse daywalk-demo.db --port 0': 'the demo, on a free port',
    'DAYWALK_DASHBOARD_TOKEN_FILE=token.txt daywalk dashboard --listen 0.0.0.0:4000 --allowed-host daywalk.example.com':
      'for other machines, behind a proxy that serves https',
  },
  isForPeople: true,
  resultIsOutput: true,
  load: () => import('./action.ts'),
};
