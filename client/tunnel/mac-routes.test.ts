import { expect, it } from 'vitest';
import { collidingMacRoutes } from './mac-routes.ts';

const NEWER = `Routing tables

Internet:
Destination        Gateway            Flags               Netif Expire
default            192.168.1.1        UGScg                 en0       
10.96/24           utun4              USc                 utun4       
10.97              link#22            UCS                 utun5       
10.98.0.1          10.98.0.1          UH                  utun6       
127                127.0.0.1          UCS                   lo0       
127.0.0.1          127.0.0.1          UH                    lo0       
169.254            link#11            UCS                   en0      !
192.168.1          link#11            UCS                   en0      !
192.168.1.1/32     link#11            UCS                   en0      !
192.168.1.1        c8:3a:35:11:22:33  UHLWIir               en0   1189
224.0.0/4          link#11            UmCS                  en0      !
255.255.255.255/32 link#11            UCS                   en0      !
`;

const OLDER = `Routing tables

Internet:
Destination        Gateway            Flags        Refs      Use   Netif Expire
default            10.10.10.1         UGSc           20       16     en0
10.10.10/24        link#4             UCS             1        0     en0
10.10.10.107       a8:6b:ad:6b:c4:a5  UHLWI           0        0     en0    820
172.16.111/24      link#11            UC              1        0  vmnet1
`;

it('reads destinations that netstat shortens', () => {
  const colliding = (cidr: string) => collidingMacRoutes(cidr, NEWER, 'utun96');
  expect(['10.96.0.0/16', '10.97.3.0/24', '10.98.0.0/24', '192.168.1.0/24', '127.0.0.0/8'].map(colliding)).toEqual([
    ['10.96/24 on utun4'],
    ['10.97 on utun5'],
    ['10.98.0.1 on utun6'],
    ['192.168.1 on en0', '192.168.1.1/32 on en0'],
    ['127 on lo0', '127.0.0.1 on lo0'],
  ]);
});

it('finds nothing beside the default route, and nothing of its own', () => {
  expect(collidingMacRoutes('100.64.0.0/10', NEWER, 'utun96')).toEqual([]);
  expect(collidingMacRoutes('10.96.0.0/24', NEWER, 'utun4')).toEqual([]);
});

it('reads the columns of older systems, too', () => {
  expect(collidingMacRoutes('172.16.0.0/12', OLDER, 'utun96')).toEqual(['172.16.111/24 on vmnet1']);
  expect(collidingMacRoutes('10.10.10.0/25', OLDER, 'utun96')).toEqual(['10.10.10/24 on en0']);
});

it('reads nothing where there is no table', () => {
  expect(collidingMacRoutes('10.96.0.0/24', 'netstat: sysctl: not permitted\n', 'utun96')).toEqual([]);
});
