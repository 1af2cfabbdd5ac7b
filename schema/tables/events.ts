import {
  extraColumn,
  instant,
  integer,
  json,
  key,
  label,
  moment,
  orgColumn,
  record,
  table,
  text,
} from '../define.ts';

export const sessions = table({
  name: 'sessions',
  doc: 'Sessions that Daywalk created: one row per session, as it was at creation.',
  role: 'event',
  by: { ...orgColumn, session_id: key('ID of the session') },
  values: {
    title: label('title'),
    status: text('status at creation: idle, pending or running'),
    message_count: integer('number of messages'),
    created_at: instant('when the session was created'),
    updated_at: instant('when the session was last updated'),
    completed_at: moment('when the session was completed'),
    computer_id: label('ID of the connected computer'),
    session_settings: json('settings of the session, as the service returned them'),
    ...extraColumn,
  },
});

export const hookEvents = table({
  name: 'hook_events',
  doc: 'Hook events of the client tool: one row per event.',
  role: 'event',
  by: { ...orgColumn, event_id: key('SHA-256 of the event and of its place in order') },
  values: {
    received_at: instant('when the event was received'),
    hook_event_name: label('name of the event, for example Stop'),
    session_id: label('ID of the session in the client tool'),
    cwd: label('working directory'),
    message: label('message, for the event Notification'),
    reason: label('reason, for the event SessionEnd'),
    payload: record('the whole event as it was received'),
  },
});
