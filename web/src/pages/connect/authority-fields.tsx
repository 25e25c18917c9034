import type { Signal } from '@preact/signals';
import { SCOPE_WORDS, type Scope, scopeWords } from '../../api/scopes.ts';
import { AreaField } from '../../ui/field.tsx';
import { approvalWords, ruleWords } from '../agents/words.ts';
import { reachFault, type reachOf } from './reach-of.ts';

export const LIVES = Object.entries({
  '1h': '1 hour',
  '8h': '8 hours',
  '24h': '1 day',
  '168h': '7 days',
  '720h': '30 days',
  '2160h': '90 days',
});

const PRESET_NAMES = {
  isolated: 'isolated: reach nothing',
  sandboxed: 'sandboxed: reach what they are granted',
  coordinator: 'coordinator: talk to each other too',
  inherit: 'inherit: reach what it may itself',
};
export const PRESETS = Object.entries(PRESET_NAMES);
export type Preset = keyof typeof PRESET_NAMES;

/** Scopes as sentences, each to be given or not. */
export function ScopeChoice({
  legend,
  offered,
  chosen,
}: {
  legend: string;
  offered: readonly Scope[];
  chosen: Signal<readonly Scope[]>;
}) {
  return (
    <fieldset class="choices">
      <legend>{legend}</legend>
      <p class="dim">It never approves, whatever is chosen.</p>
      {offered.map((scope) => (
        <ScopeBox key={scope} scope={scope} chosen={chosen} />
      ))}
    </fieldset>
  );
}

export function ScopeBox({ scope, chosen }: { scope: Scope; chosen: Signal<readonly Scope[]> }) {
  return (
    <label class="choice">
      <input
        type="checkbox"
        checked={chosen.value.includes(scope)}
        onChange={({ currentTarget }) => {
          const others = chosen.value.filter((other) => other !== scope);
          chosen.value = currentTarget.checked ? [...others, scope] : others;
        }}
      />
      <span>
        {SCOPE_WORDS[scope]} <code class="dim">{scope}</code>
      </span>
    </label>
  );
}

export function ReachField({ value }: { value: Signal<string> }) {
  return (
    <AreaField
      label="May open (optional)"
      fields={['reach']}
      hint="A line each: whom, then ports. role=web TCP 443, or db-1 5432, or * UDP 53. Nothing here: all that it opens waits for a person."
      value={value}
    />
  );
}

/** The whole grant in a sentence; of a personal token without a reach. */
export function Summary({
  name,
  scopes,
  read,
}: {
  name: string;
  scopes: readonly Scope[];
  read?: ReturnType<typeof reachOf> | undefined;
}) {
  return (
    <p class="notice">
      <span class="break">
        <strong>{name}</strong> may {scopeWords(scopes)}. Never approves.{' '}
        {read && <ReachSentence scopes={scopes} read={read} />}
      </span>
    </p>
  );
}

function ReachSentence({ scopes, read }: { scopes: readonly Scope[]; read: ReturnType<typeof reachOf> }) {
  if ('wrong' in read) return <span class="fault">{reachFault(read.wrong)}</span>;
  const { rules } = read;
  return (
    <>
      {rules.length > 0 && `Reach: ${rules.map(ruleWords).join('; ')}. `}
      {approvalWords({ scopes: [...scopes], reach: [...rules], parentRef: null })}
    </>
  );
}
