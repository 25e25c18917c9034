import type { components } from '../api/schema.d.ts';
import { portsText } from '../reach/ports.ts';
import { Ends, VerdictTag } from '../reach/why.tsx';
import { exactTime, shortTime, Time } from '../ui/time.tsx';
import { ChangeLine } from './change-line.tsx';
import { Connection, type ConnectionAnswer, endsOf, Moment, questionAddress } from './connection.tsx';
import { showView } from './frame.tsx';
import { SpanLine, verdictIn } from './span-line.tsx';

type Timeline = components['schemas']['ConnectivityTimeline'];
type Exposure = components['schemas']['PeerExposure'];
type Answer = ConnectionAnswer | Timeline | Exposure;

showView<Answer>({
  title: 'Time line of a connection',
  Answer: ({ answer, args }) => {
    if ('intervals' in answer) return <RangeAnswer answer={answer} ends={endsOf(args)} />;
    return (
      <>
        {'at' in answer && <Moment at={answer.at} />}
        <Connection answer={answer} args={args} />
      </>
    );
  },
  placeOf(answer, args, dashboard) {
    if (!dashboard) return undefined;
    if ('intervals' in answer) {
      const { from, to } = answer.range;
      return { page: 'time', href: `${dashboard}/time?${new URLSearchParams({ from, to })}` };
    }
    return { page: 'reachability', href: questionAddress(dashboard, args, 'at' in answer ? answer.at : undefined) };
  },
});

function RangeAnswer({ answer, ends }: { answer: Timeline | Exposure; ends: { src: string; dst: string } }) {
  const { range, count, intervals, note } = answer;
  const [src, dst] = [answer.src ?? ends.src, answer.dst ?? ends.dst];
  const isPair = answer.src !== null && answer.dst !== null;
  return (
    <article class="stack">
      <h2 class="break">
        {isPair ? (
          <Ends src={src} dst={dst} />
        ) : dst === '' ? (
          `Peers that ${src} could reach`
        ) : (
          `Peers that could reach ${dst}`
        )}
      </h2>
      <SpanLine spans={intervals} from={range.from} to={range.to} />
      {[note, range.note].map((text) => text && <p key={text}>{text}</p>)}
      <ol class="spans">
        {intervals.map((interval) => (
          <li key={interval.from} class="stack-small">
            <div class="row">
              <VerdictTag verdict={verdictIn(interval)} />
              {'allowed' in interval && interval.allowed.length > 0 && <code>{portsText(interval.allowed)}</code>}
              <span class="small" title={`${exactTime(interval.from)} – ${exactTime(interval.to)}`}>
                {shortTime(interval.from)} until {shortTime(interval.to)}
              </span>
            </div>
            {'reach' in interval && verdictIn(interval) !== 'undetermined' && <Reach interval={interval} />}
            <ChangeLine change={interval.change} causes={interval.causes} />
          </li>
        ))}
      </ol>
      {count > intervals.length && <p class="dim">{count - intervals.length} more intervals not shown.</p>}
      <p class="small dim">
        History is known since <Time at={range.known_since} />
      </p>
    </article>
  );
}

/** Who is at the other end, by what they share. */
function Reach({ interval: { reach, outside } }: { interval: Exposure['intervals'][number] }) {
  const lines = [
    ...reach.map(({ peers, allowed }) => ({ names: peers.join(', '), allowed })),
    ...(outside ?? []).map(({ addresses, allowed }) => ({ names: addresses.join(', '), allowed })),
  ];
  if (lines.length === 0) return <p class="dim">nobody</p>;
  return (
    <ul class="stack-small">
      {lines.map(({ names, allowed }) => (
        <li key={names} class="row">
          <span class="break">{names}</span> <code>{portsText(allowed)}</code>
        </li>
      ))}
    </ul>
  );
}
