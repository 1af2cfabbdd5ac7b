import { serveSettings } from '../../arguments/setting-groups.ts';
import { type Command, jsonFlag } from '../../program/command.ts';

/** `daywalk serve`: the nightly job without cron. */
export const serve: Command = {
  name: 'serve',
  summary: 'exports on a schedule, and answers probes and scrapers',
  description:
    'Does what daywalk run does, at every time of a schedule, until it is stopped: an alternative to cron. The first start ' +
    'runs at once. Runs that were missed in a sleep, a stop or a long run are made up for by one run at once. ' +
    'Answers /livez, /readyz, /healthz and /metrics. When it is ready, it prints its address.',
  uses: serveSettings,
  flags: jsonFlag,
  examples: {
    'daywalk serve': 'every night at 03:00 UTC, on http://127.0.0.1:9464',
    'daywalk serve --schedule "30 */6 * * *" --jitter 10m': 'four times a day, each up to ten minutes later',
    'daywalk serve --listen 0.0.0.0:9464': 'in a container, for the probes of its cluster',
  },
  isService: true,
  resultIsOutput: false,
  load: () => import('./action.ts'),
};
