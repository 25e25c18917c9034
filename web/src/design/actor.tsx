import { actorText } from './actor-words.ts';
import { Icon, type IconName } from './icon.tsx';

/** By the kinds of names of the audit log. */
const ICONS: Readonly<Record<string, IconName>> = {
  user: 'user',
  agent: 'bot',
  system: 'settings',
  token: 'laptop',
  device: 'laptop',
};

/** A person, agent or job of the control plane by its name. */
export function Actor({ actor }: { actor: string }) {
  const [kind = ''] = actor.split(':');
  const icon = (Object.hasOwn(ICONS, kind) && ICONS[kind]) || 'laptop';
  return (
    <span class="actor" title={actorText(actor)}>
      <Icon name={icon} /> <span class="break">{actorText(actor)}</span>
    </span>
  );
}
