import { session } from './api/session.ts';
import { signOut } from './api/sign-in.ts';
import { workspace } from './api/workspace.ts';
import { Icon } from './design/icon.tsx';
import { canNotify, notifies, toggleNotifications } from './notifications.ts';
import { linkTo } from './route/route.ts';
import { browserZone, isUtc, setUtc } from './time/zone.ts';
import { DocsLink } from './ui/docs-link.tsx';
import { Popover } from './ui/popover.tsx';
import { ThemeSwitch } from './ui/theme.tsx';

/** The person who is signed in, and what that person sets for this browser. */
export function PersonMenu() {
  const name = session.value?.username ?? '';
  return (
    <Popover
      label={`Account of ${name}`}
      text={
        <span class="row break">
          <Icon name="user" /> {name}
        </span>
      }
      class="quiet"
    >
      {(close) => <PersonActions close={close} />}
    </Popover>
  );
}

export function PersonActions({ close }: { close: () => void }) {
  return (
    <ul class="menu" aria-label="Account">
      {workspace.value && (
        <li>
          <a href={linkTo('settings', ['account'])} onClick={close}>
            <Icon name="user" /> Account and sessions
          </a>
        </li>
      )}
      <li>
        <DocsLink onClick={close} />
      </li>
      <li>
        <ThemeSwitch />
      </li>
      <li>
        <button type="button" class="quiet" aria-pressed={isUtc.value} onClick={() => setUtc(!isUtc.value)}>
          <Icon name="clock" /> Time zone: {isUtc.value ? 'UTC' : browserZone}
        </button>
      </li>
      {canNotify && (
        <li>
          <button type="button" class="quiet" aria-pressed={notifies.value} onClick={() => void toggleNotifications()}>
            {notifies.value ? 'Notifications: on' : 'Notifications: off'}
          </button>
        </li>
      )}
      <li>
        <button type="button" class="quiet" onClick={() => signOut().catch(() => undefined)}>
          <Icon name="log-out" /> Sign out
        </button>
      </li>
    </ul>
  );
}
