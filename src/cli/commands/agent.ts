import { settingsIn } from '../../settings/index.ts';
import { type Command, type CommandFlags, type CommandGroup, jsonFlag, usesOf } from '../program/command.ts';

/** `daywalk hooks`. */
const hooksGroup: CommandGroup = {
  name: 'hooks',
  summary: "edits the client tool's hooks file, and stores received events",
};

/** The hooks file that a command reads or edits; required. */
const fileFlag: CommandFlags = { '--file <path>': 'the hooks file' };

/** Commands about agents: their sessions and their hooks. */
export const agentCommands: readonly Command[] = [
  {
    name: 'sessions create',
    group: { name: 'sessions', summary: 'creates sessions on connected computers' },
    summary: 'creates a session on a computer and records it in the warehouse',
    description:
      'Creates a session on a connected computer and records it in the table sessions. Each successful call creates ' +
      'another session. A request is therefore retried only if the service certainly did not process it. If that is ' +
      'unknown, the message says so. The key may be an API key or a JWT.',
    uses: usesOf('service', 'organizations', 'warehouse', 'requests', 'emails', 'erasures'),
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
    load: async () => (await import('../actions/sessions.ts')).createAction,
  },
  {
    name: 'hook',
    summary: 'receives one hook event on standard input; always exits with 0',
    description:
      'The client tool runs this command for its hook events. It reads one JSON object from standard input, stores it ' +
      'durably in the spool, and sends a notification if that is switched on. It opens no warehouse, never waits long, and ' +
      'always exits with code 0; an event that cannot be stored is reported in one line on standard error. daywalk run ' +
      'and daywalk hooks drain move the events into the table hook_events. Notification settings come from flags and the ' +
      'environment, never from .env.',
    uses: settingsIn('warehouse', 'spool', 'notify', 'clock'),
    flags: {},
    examples: {
      'daywalk hook --spool /var/lib/daywalk/daywalk.db.spool':
        'the command that daywalk hooks install writes',
      'cat event.json | daywalk hook --notify desktop,bell':
        'stores an event, shows a desktop notification and rings the bell',
    },
    resultIsOutput: false,
    // `main.ts` starts the receiver before any command is loaded; this entry is for help only.
    load: () => {
      throw new Error('daywalk hook must be started by its own entry point');
    },
  },
  {
    name: 'hooks install',
    group: hooksGroup,
    summary: "adds the receiver to the client tool's hooks file",
    description:
      "Adds the receiver to the client tool's hooks file. The file may be a map of events, or hold one under the key " +
      '"hooks". Nothing else in the file changes: order, other entries, unknown keys, comments and indentation stay. ' +
      'A hook that is already installed is not installed twice. The file is replaced atomically; its previous content is ' +
      'kept beside it, with .bak added to the name.',
    uses: usesOf('warehouse', 'spool'),
    flags: {
      '--file <path>': 'the hooks file; created if it does not exist',
      '--event <name...>':
        'events to receive, separated by spaces or commas; all for every known event (default: Notification, Stop, SubagentStop, SessionEnd)',
      '--command <command>': 'install this command (default: daywalk hook with the spool of this warehouse)',
      '--timeout <seconds>': 'time limit that the client tool sets for the command (default: 10)',
      ...jsonFlag,
    },
    required: ['--file'],
    examples: {
      'daywalk hooks install --file ~/.agent/hooks.json --warehouse /var/lib/daywalk/daywalk.db':
        'receives four events into the spool of that warehouse',
      'daywalk hooks install --file hooks.json --event all --timeout 5':
        'receives every known event, including the use of tools',
    },
    resultIsOutput: false,
    load: async () => (await import('../actions/hooks.ts')).installAction,
  },
  {
    name: 'hooks list',
    group: hooksGroup,
    summary: "lists the hooks in the client tool's hooks file",
    description:
      'Lists every hook of the file in its order, and marks those that are receivers of this program.',
    uses: usesOf(),
    flags: { ...fileFlag, ...jsonFlag },
    required: ['--file'],
    examples: {
      'daywalk hooks list --file ~/.agent/hooks.json': 'every hook with its matcher and time limit',
      'daywalk hooks list --file hooks.json --json': 'the same, for a script',
    },
    resultIsOutput: true,
    load: async () => (await import('../actions/hooks.ts')).listAction,
  },
  {
    name: 'hooks remove',
    group: hooksGroup,
    summary: "removes the receiver from the client tool's hooks file",
    description:
      'Removes the hooks whose command is daywalk hook, with any flags and from any installation, and entries that become ' +
      'empty. Nothing else in the file changes. The file is replaced atomically; its previous content is kept beside it, ' +
      'with .bak added to the name.',
    uses: usesOf(),
    flags: {
      ...fileFlag,
      '--event <name...>': 'only from these events, separated by spaces or commas',
      '--command <command>': 'remove the hooks with exactly this command instead',
      ...jsonFlag,
    },
    required: ['--file'],
    examples: {
      'daywalk hooks remove --file ~/.agent/hooks.json': 'stops receiving events',
      'daywalk hooks remove --file hooks.json --event Stop': 'stops receiving one event',
    },
    resultIsOutput: false,
    load: async () => (await import('../actions/hooks.ts')).removeAction,
  },
  {
    name: 'hooks fire',
    group: hooksGroup,
    summary: 'runs the configured hooks of an event, as the client tool would',
    description:
      'Runs the hooks that a file configures for an event, as the client tool would. All hooks whose matcher accepts the ' +
      'tool run at the same time; identical commands run once. Each hook gets the event as JSON on standard input, and has ' +
      'its time limit. Prints what each hook did. Exit code 2 of a hook blocks PreToolUse, UserPromptSubmit, Stop and ' +
      'SubagentStop; any other failure has no effect. This command exits with code 0 even if a hook blocks or fails.',
    uses: usesOf(),
    operands: { '<event>': 'name of the event, for example Stop' },
    flags: {
      ...fileFlag,
      '--tool <name>': 'the tool, for PreToolUse and PostToolUse',
      '--payload <path>': 'JSON file with an object of further fields; - reads standard input',
      '--json': 'print one JSON document that includes the output of each hook',
    },
    required: ['--file'],
    examples: {
      'daywalk hooks fire Stop --file ~/.agent/hooks.json': 'what happens when the agent has finished',
      'daywalk hooks fire PostToolUse --tool Edit --file hooks.json --payload event.json --json':
        'what happens after a tool was used, with fields of your own',
    },
    resultIsOutput: true,
    load: async () => (await import('../actions/hooks.ts')).fireAction,
  },
  {
    name: 'hooks drain',
    group: hooksGroup,
    summary: 'moves received hook events from the spool into the warehouse',
    description:
      'Moves received hook events from the spool into the table hook_events. Each event is stored once, however often the ' +
      'command is run or killed. Every daywalk run does the same. The command may run during a run, and while receivers write.',
    uses: usesOf('organizations', 'warehouse', 'emails', 'erasures', 'spool'),
    flags: { ...jsonFlag },
    examples: {
      'daywalk hooks drain': 'stores all events received so far',
      'daywalk hooks drain --json --warehouse w.db': 'prints the number of events, for a script',
    },
    resultIsOutput: false,
    load: async () => (await import('../actions/hooks.ts')).drainAction,
  },
];
