import { type Signal, useSignal } from '@preact/signals';
import { Problem } from '../../../api/problem.ts';
import type { Webhook } from '../../../api/types.ts';
import { EVENT_GROUPS, webhooks as words } from '../../../texts/webhooks.ts';
import { useAct } from '../../../ui/act.ts';
import { TextField } from '../../../ui/field.tsx';
import { ProblemNotice } from '../../../ui/problem.tsx';

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
      if (events.value.length === 0) throw new Problem({ title: words.noEvents, code: 'page' });
      await run({ url: url.value.trim(), description: description.value, events: [...events.value] });
    });
  };
  return (
    <form class="panel stack" onSubmit={submit}>
      <TextField label={words.url} hint={words.urlHint} type="url" value={url} required autocomplete="off" />
      <TextField label={words.description} value={description} maxLength={128} autocomplete="off" />
      <Events chosen={events} />
      <ProblemNotice problem={problem.value} />
      <div class="row">
        <button type="submit" disabled={isActing.value}>
          {label}
        </button>
      </div>
    </form>
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
      <legend class="label">{words.events}</legend>
      <Choice name={ALL} text={words.all} isOn={isAll} turn={turn} />
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
