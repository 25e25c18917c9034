import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import type { Order } from '../../api/types.ts';
import { Actor } from '../../design/actor.tsx';
import { Bars } from '../../design/bars.tsx';
import { Chip } from '../../design/chip.tsx';
import { Flow } from '../../design/flow.tsx';
import { Icon, type IconName } from '../../design/icon.tsx';
import { ICONS } from '../../design/icons.ts';
import { Select } from '../../design/select.tsx';
import { Tile } from '../../design/tile.tsx';
import { Risk } from '../../effect/risk.tsx';
import { OrderList } from '../../orders/order-list.tsx';
import { Empty, Page } from '../../ui/page.tsx';
import './design.css';

const SIZES = ['small', '', 'medium', 'large', 'title'] as const;
const SURFACES = [
  'surface-low',
  'surface',
  'surface-high',
  'accent-low',
  'ok-low',
  'opens-low',
  'closes-low',
  'warn-low',
  'danger-low',
];
const COLORS = ['text', 'text-dim', 'accent', 'ok', 'opens', 'closes', 'warn', 'danger'];
const TONES = ['', 'ok', 'warn', 'danger', 'accent'] as const;
const LEVELS = ['low', 'medium', 'high', 'critical'] as const;
const ORDERS: readonly Order[] = [
  { do: 'allow', from: ['role=web'], to: ['role=db'], ports: ['tcp/5432'], for: '2h' },
  { do: 'deny', from: ['outside'], to: ['peers'], except_to: ['gateway'] },
  { do: 'only', from: ['role=ops'], to: ['network=lab'], ports: ['tcp/22'] },
  { do: 'remove', from: ['ci-1'], to: ['db-1'], both_ways: true },
];

/** Each component in both themes, in development alone. */
export default function Design() {
  return (
    <Page title="Design">
      <div class="themes">
        <Themed theme="light" />
        <Themed theme="dark" />
      </div>
    </Page>
  );
}

function Themed({ theme }: { theme: 'light' | 'dark' }) {
  return (
    <section class="panel stack" data-theme={theme} aria-label={theme}>
      <Part title="Type">
        {SIZES.map((size) => (
          <p key={size} class={`size-${size || 'base'}`}>
            {size || 'base'}: web-1 → db-1, 0123456789
          </p>
        ))}
        <code>10.96.0.1 tcp/5432</code>
      </Part>
      <Part title="Color">
        <div class="row">
          {SURFACES.map((name) => (
            <span key={name} class={`swatch ${name}`}>
              {name}
            </span>
          ))}
        </div>
        <div class="row">
          {COLORS.map((name) => (
            <strong key={name} class={`ink ${name}`}>
              {name}
            </strong>
          ))}
        </div>
      </Part>
      <Part title="Icons">
        <div class="row">
          {(Object.keys(ICONS) as IconName[]).map((name) => (
            <span key={name} class="row">
              <Icon name={name} /> {name}
            </span>
          ))}
        </div>
      </Part>
      <Part title="Chip">
        <div class="row">
          {TONES.map((tone) => (
            <Chip key={tone} tone={tone}>
              {tone || 'none'}
            </Chip>
          ))}
          {LEVELS.map((level) => (
            <Risk key={level} level={level} />
          ))}
        </div>
      </Part>
      <Part title="Flow">
        <Flow from="role=web" to="role=db" ports="TCP 5432" />
      </Part>
      <Part title="Actor">
        <div class="row">
          {['user:ada', 'agent:ops', 'system:snapshots', 'token:laptops'].map((actor) => (
            <Actor key={actor} actor={actor} />
          ))}
        </div>
      </Part>
      <Part title="Tile and bars">
        <Tile label="Changes in 24 hours" href="#/" figure="12" note="4 peers, 8 policies">
          <Bars counts={[3, 0, 5, 1, 0, 8, 12]} chosen={6} />
        </Tile>
      </Part>
      <Part title="Button">
        <div class="row">
          <button type="button" class="primary">
            Approve
          </button>
          <button type="button">Edit</button>
          <button type="button" class="danger">
            Reject
          </button>
          <button type="button" class="quiet">
            Cancel
          </button>
          <button type="button" disabled>
            Disabled
          </button>
        </div>
      </Part>
      <Part title="Select">
        <ManyPeers />
      </Part>
      <Part title="Orders">
        <OrderList orders={ORDERS} label="Orders" />
      </Part>
      <Part title="Empty">
        <Empty>No devices yet.</Empty>
      </Part>
    </section>
  );
}

const PEERS = [
  ...['<img src=x onerror=alert(1)>', '\u202Egnp.exe', `long-${'x'.repeat(120)}`],
  ...Array.from({ length: 5000 }, (_, index) => `peer-${index}`),
].map((name) => ({ value: name, text: name }));

function ManyPeers() {
  const peer = useSignal('peer-0');
  return <Select label="Peer" options={PEERS} value={peer.value} change={(name) => (peer.value = name)} />;
}

function Part({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <section class="stack-small">
      <h2>{title}</h2>
      {children}
    </section>
  );
}
