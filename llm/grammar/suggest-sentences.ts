import type { PortEntry } from '../../core/model/policy.ts';
import { portList } from './port-entries.ts';
import type { Frame, Group, Spared } from './suggest-frame.ts';

/** The sentences that an order may be meant as, in forms that have one meaning, the most faithful first. */
export function sentencesFor(frame: Frame): string[] {
  const end = frame.time ? ` ${frame.time}` : '';
  return formsFor(frame).map((text) =>
    end === ''
      ? text
      : text
          .split('; ')
          .map((one) => `${one}${end}`)
          .join('; '),
  );
}

function formsFor(frame: Frame): string[] {
  const { isolated, only, old, polarity, mutual } = frame;
  if (isolated !== undefined) return isolations(isolated, frame.spared);
  if (mutual) return mutually(frame);
  if (old) return only === undefined ? swaps(frame) : [];
  if (only !== undefined) return limits(frame);
  if (frame.elseClosed) return polarity === 'open' ? limits({ ...frame, only: 'source' }) : [];
  if (polarity === 'revoke') return [...each(frame, revoked), ...each(frame, blocked)];
  if (polarity === 'close') return closings(frame);
  if (frame.spared.length > 0) return [];
  const opened = each(frame, let_);
  return polarity === undefined ? [...opened, ...each(frame, blocked)] : opened;
}

type Form = (source: string, target: string, on: string) => string;

const let_: Form = (source, target, on) =>
  source === 'everyone' && target === 'everyone' ? '' : `let ${source} reach ${target}${on}`;
const blocked: Form = (source, target, on) => `block ${source} from ${target}${on}`;
const revoked: Form = (source, target, on) => `revoke ${source}'s access to ${target}${on}`;

/** One sentence, or one for each target where the ports are said with each. */
function each({ sources, targets, ports }: Frame, form: Form): string[] {
  if (sources.length === 0 || targets.length === 0) return [];
  const source = names(sources);
  const own = targets.filter((target) => target.ports.length > 0);
  if (own.length === 0) return [form(source, names(targets), on(ports))].filter((text) => text !== '');
  if (own.length < targets.length && targets.length > 1) {
    const [last] = targets.slice(-1);
    // Ports at the end belong to all that were named before them.
    return own.length === 1 && last && own[0] === last
      ? [form(source, names(targets), on([...ports, ...last.ports]))]
      : [];
  }
  return [targets.map((target) => form(source, target.says, on([...ports, ...target.ports]))).join('; ')];
}

function closings(frame: Frame): string[] {
  const { sources, targets, spared, incoming } = frame;
  const except = spared.map(exceptionText);
  if (except.some((text) => text === undefined)) return [];
  const [left] = except;
  if (except.length > 1) return [];
  const end = left === undefined ? '' : ` except ${left}`;
  if (sources.length > 0 && targets.length > 0) return each(frame, blocked).map((text) => `${text}${end}`);
  if (targets.length > 0 && !frame.pronoun && frame.unknown.length === 0)
    return each({ ...frame, sources: [{ says: 'everyone', ports: [] }] }, blocked).map((text) => `${text}${end}`);
  if (sources.length === 0 || frame.pronoun) return [];
  const who = names(sources);
  const outwards = `block ${who} from everyone${on(frame.ports)}${end}`;
  const inwards = `block all traffic to ${who}${on(frame.ports)}${end}`;
  if (frame.outgoing) return [outwards];
  return incoming ? [inwards] : [];
}

function exceptionText({ who, side, ports }: Spared): string | undefined {
  const what = portList(ports);
  if (who === undefined) return what;
  const link = side === 'source' ? 'from ' : side === 'target' ? 'to ' : '';
  return [what, `${link}${who}`].filter((part) => part !== '').join(' ');
}

function isolations(who: string, spared: readonly Spared[]): string[] {
  if (spared.length === 0) return [`isolate ${who}`];
  const [only] = spared;
  if (!only || spared.length > 1) return [];
  const one = (side: Spared['side']) => exceptionText({ ...only, side });
  if (only.side !== undefined || only.who === undefined) return [`isolate ${who} except ${one(only.side)}`];
  return [
    `block ${who} from everyone except ${one('target')}; block all traffic to ${who} except ${one('source')}`,
    `isolate ${who} except ${one('target')}`,
    `isolate ${who} except ${one('source')}`,
  ];
}

function limits({ only, sources, targets, elseClosed, elseStays, ...frame }: Frame): string[] {
  const ports = [...frame.ports, ...targets.flatMap((target) => target.ports)];
  const [source, target] = [names(sources), names(targets)];
  const what = portList(ports);
  if (target === '') return [];
  if (only === 'ports')
    return source === '' ? [`limit ${target} to ${what}`] : [`limit ${source}'s access to ${target} to ${what}`];
  if (source === '') return [];
  if (only === 'target')
    return what === ''
      ? [`block ${source} from everyone except ${target}`]
      : [
          `block ${source} from everyone except ${what} to ${target}`,
          `limit ${source}'s access to ${target} to ${what}`,
        ];
  const narrow = `only ${source} may reach ${target}${on(ports)}`;
  const whole = `block all traffic to ${target} except ${what === '' ? '' : `${what} `}from ${source}`;
  return elseClosed && !elseStays && what !== '' ? [whole] : [narrow];
}

function mutually({ sources, targets, polarity, ports, spared }: Frame): string[] {
  const all = [...sources, ...targets];
  const both = names(all);
  const what = [...ports, ...all.flatMap((one) => one.ports)];
  if (spared.length > 0 || !both.includes(' and ')) return [];
  return polarity === 'close' || polarity === 'revoke'
    ? [`block access between ${both}${on(what)}`]
    : [`allow access between ${both}${on(what)}`];
}

function swaps({ sources, targets, ports, old }: Frame): string[] {
  if (!old || sources.length === 0 || targets.length === 0) return [];
  const all = on([...ports, ...targets.flatMap((target) => target.ports)]);
  const [source, target] = [names(sources), names(targets)];
  const first = let_(source, target, all);
  const before = 'ports' in old ? on(old.ports) : all;
  const [from, to] =
    'ports' in old ? [source, target] : old.side === 'source' ? [old.says, target] : [source, old.says];
  return [`${first}; ${revoked(from, to, before)}`, `${first}; ${blocked(from, to, before)}`];
}

function names(groups: readonly Group[]): string {
  return groups.map(({ says }) => says).join(' and ');
}

function on(ports: readonly PortEntry[]): string {
  return ports.length > 0 ? ` on ${portList(ports)}` : '';
}
