import { type Signal, useSignal } from '@preact/signals';
import { Problem } from '../../../api/problem.ts';
import type { Webhook } from '../../../api/types.ts';
import { useAct } from '../../../ui/act.ts';
import { TextField } from '../../../ui/field.tsx';
import { Form } from '../../../ui/form.tsx';
import { ProblemNotice } from '../../../ui/problem.tsx';

/** By prefix (docs/webhooks.md#what-is-sent). */
const EVENT_GROUPS: Readonly<Record<string, string>> = {
  'workflow.*': 'changes pending, approved, applied, rejected or failed',
  'peer.*': 'devices that join, change, leave, come online or go offline',
  'policy.*': 'policies',
  'network.*': 'networks',
  'assertion.*': 'assertions',
  'agent.*': 'agents created, renewed or ended',
  'member.*': 'members and their roles',
  'snapshot.*': 'snapshots',
  'assessment.*': 'assessments',
  'compliance.*': 'controls that change, and schedules that fail',
  'review.*': 'reviews that are due',
  'audit.*': 'the audit log: contradictions, days without an entry',
  token_used: 'join tokens that a device used',
};

export type WebhookFields = Pick<Webhook, 'url' | 'description' | 'events'>;

interface Props {
  readonly webhook?: WebhookFields;
  readonly act: string;
  readonly run: (fields: { url: string; description: string; events: string[] }) => Promise<unknown>;
}

/** Where to, what it is for, and which events. */
export function WebhookForm({ webhook, act: label, run }: Props) {
  const url = useSignal(webhook?.url ?? '');
  const description = useSignal(webhook?.description ?? '');
  const events = useSignal<readonly string[]>(webhook?.events ?? ['workflow.*']);
  const { isActing, problem, act } = useAct();
  const submit = (event: Event) => {
    event.preventDefault();
    return act(async () => {
      if (events.value.length === 0) throw new Problem({ title: 'Choose at least one event.', code: 'page' });
      await run({ url: url.value.trim(), description: description.value, events: [...events.value] });
    });
  };
  return (
    <Form problem={problem} class="panel stack" onSubmit={submit}>
      <TextField
        label="URL"
        hint="A public https address, unless the operator allows others."
        type="url"
        value={url}
        required
        autocomplete="off"
      />
      <TextField label="Description" value={description} maxLength={128} autocomplete="off" />
      <Events chosen={events} />
      <ProblemNotice problem={problem.value} />
      <div class="row">
        <button type="submit" disabled={isActing.value}>
          {label}
        </button>
      </div>
    </Form>
  );
}

const ALL = '*';

function Events({ chosen }: { chosen: Signal<readonly string[]> }) {
  const isAll = chosen.value.includes(ALL);
  // Single types that somebody named by the API or a command stay as they are.
  const own = chosen.value.filter((name) => name !== ALL && !(name in EVENT_GROUPS));
  const names = [...Object.keys(EVENT_GROUPS), ...own];
  const turn = (name: string, isOn: boolean) => {
    const others = chosen.value.filter((one) => one !== name);
    chosen.value = isOn ? [...others, name] : others;
  };
  return (
    <fieldset>
      <legend class="label">Events</legend>
      <Choice name={ALL} text="everything" isOn={isAll} turn={turn} />
      {!isAll &&
        names.map((name) => (
          <Choice key={name} name={name} text={EVENT_GROUPS[name]} isOn={chosen.value.includes(name)} turn={turn} />
        ))}
    </fieldset>
  );
}

interface ChoiceProps {
  readonly name: string;
  readonly text: string | undefined;
  readonly isOn: boolean;
  readonly turn: (name: string, isOn: boolean) => void;
}

function Choice({ name, text, isOn, turn }: ChoiceProps) {
  return (
    <label class="check">
      <input type="checkbox" checked={isOn} onChange={({ currentTarget }) => turn(name, currentTarget.checked)} />
      <span>
        <code>{name}</code> {text && <span class="dim">{text}</span>}
      </span>
    </label>
  );
}
