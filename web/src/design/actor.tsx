import { Icon, type IconName } from './icon.tsx';

/** Icon and word of an actor, by the kinds of names of the audit log. */
const KINDS: Readonly<Record<string, readonly [icon: IconName, before: string]>> = {
  user: ['user', ''],
  agent: ['bot', 'agent '],
  system: ['settings', 'Mesh: '],
  token: ['laptop', 'join token '],
  device: ['laptop', 'device '],
};

/** Returns `admin` for `user:admin`, and `agent ops` for `agent:ops`. */
export function actorText(actor: string): string {
  const [kind = '', ...name] = actor.split(':');
  const [, before] = (Object.hasOwn(KINDS, kind) && name.length > 0 && KINDS[kind]) || [];
  return before === undefined ? actor : before + name.join(':');
}

const NAMED = new RegExp(`\\b(${Object.keys(KINDS).join('|')}):(?=[^\\s:])`, 'g');

/** Returns a text of the control plane with who acted as {@link actorText} says it: people by their plain names. */
export function withPlainNames(text: string): string {
  return text.replaceAll(NAMED, (_, kind: string) => KINDS[kind]?.[1] ?? '');
}

/** Returns the actor that {@link actorText} shows as a text; a plain name as it is: the control plane knows whose it is. */
export function actorOf(text: string): string {
  const [kind, [, before] = []] =
    Object.entries(KINDS).find(([, [, word]]) => word !== '' && text.startsWith(word)) ?? [];
  return kind === undefined || before === undefined ? text : `${kind}:${text.slice(before.length)}`;
}

/** A person, agent or job of the control plane by its name. */
export function Actor({ actor }: { actor: string }) {
  const [kind = ''] = actor.split(':');
  const [icon] = (Object.hasOwn(KINDS, kind) && KINDS[kind]) || (['laptop'] as const);
  return (
    <span class="actor" title={actorText(actor)}>
      <Icon name={icon} /> <span class="break">{actorText(actor)}</span>
    </span>
  );
}
