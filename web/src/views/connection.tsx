import type { components } from '../api/schema.d.ts';
import { portsText } from '../reach/ports.ts';
import { Ends, Fixes, type Groups, GroupsAnswer, type Pair, Steps, VerdictTag } from '../reach/why.tsx';
import { Facts } from '../ui/facts.tsx';
import { Sentence } from '../ui/sentence.tsx';
import { exactTime, Time } from '../ui/time.tsx';
import '../reach/reach.css';

type Denial = components['schemas']['ExplainDenialResponse'];
type Fields = Readonly<Record<string, unknown>>;

export type ConnectionAnswer = Pair | Groups | Denial;

/** What was asked about, as the arguments of a call name it. */
export function endsOf(args: Fields): { readonly src: string; readonly dst: string } {
  const text = (name: string) => (typeof args[name] === 'string' ? args[name] : '');
  return { src: text('src'), dst: text('dst') };
}

/** The question on the Reachability page; the name of a snapshot is no moment. */
export function questionAddress(dashboard: string, args: Fields, at: string | undefined): string {
  const asked = ['src', 'dst', 'protocol', 'port'].flatMap((name) => (args[name] ? [[name, String(args[name])]] : []));
  return `${dashboard}/reachability?${new URLSearchParams([...asked, ...(at ? [['at', at]] : [])])}`;
}

/** Whether one may reach the other, and why. */
export function Connection({ answer, args }: { answer: ConnectionAnswer; args: Fields }) {
  const { src, dst } = endsOf(args);
  return (
    <article class="stack">
      <div class="row">
        <h2 class="break">
          <Ends src={src} dst={dst} />
        </h2>
        {'verdict' in answer && <VerdictTag verdict={answer.verdict} />}
      </div>
      {'explanation' in answer && <DenialAnswer denial={answer} />}
      {'steps' in answer && <PairAnswer pair={answer} isPast={args['at'] !== undefined || 'snapshot_id' in args} />}
      {'groups' in answer && <GroupsAnswer groups={answer} />}
    </article>
  );
}

function PairAnswer({ pair, isPast }: { pair: Pair; isPast: boolean }) {
  const { verdict, usable, allowed, valid_from: from, valid_to: to, now, note } = pair;
  const changedBy = now.changed_by as { readonly actor?: string; readonly reason?: string } | null;
  return (
    <>
      {verdict === 'reachable' && !usable && !isPast && !note && <p>Allowed, but at least one end is offline.</p>}
      {note && <p class="break">{note}</p>}
      <Facts
        facts={[
          ['Allowed', <code key="ports">{portsText(allowed)}</code>],
          ['Since', from && <Time key="from" at={from} />],
          ['At least since', pair.at_least_from && <Time key="least" at={pair.at_least_from} />],
          ['Until', to && <Time key="to" at={to} />],
          ['Now', isPast && <VerdictTag key="now" verdict={now.verdict} />],
          ['Changed since by', changedBy?.actor && [changedBy.actor, changedBy.reason && `: ${changedBy.reason}`]],
        ]}
      />
      <Steps steps={pair.steps} />
      <Fixes fixes={pair.would_fix} />
    </>
  );
}

function DenialAnswer({ denial: { explanation, allowed, would_fix: fixes } }: { denial: Denial }) {
  return (
    <>
      <p class="break">
        <Sentence text={explanation} />
      </p>
      <Facts facts={[['Allowed', <code key="ports">{portsText(allowed)}</code>]]} />
      <Fixes fixes={fixes} />
    </>
  );
}

export function Moment({ at }: { at: string }) {
  return <p class="small dim">{exactTime(at)}</p>;
}
