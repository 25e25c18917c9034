"""An SSH server for tests: lets one key in, and answers every command with its words. Usage: ssh_server.py PUBLIC_KEY_FILE"""

import socket
import sys
import threading

import paramiko

with open(sys.argv[1], encoding="ascii") as file:
    allowed = file.read().split()[1]


class Server(paramiko.ServerInterface):
    def get_allowed_auths(self, username):
        return "publickey"

    def check_auth_publickey(self, username, key):
        return paramiko.AUTH_SUCCESSFUL if key.get_base64() == allowed else paramiko.AUTH_FAILED

    def check_channel_request(self, kind, chanid):
        return paramiko.OPEN_SUCCEEDED

    def check_channel_exec_request(self, channel, command):
        threading.Thread(target=answer, args=(channel, command)).start()
        return True


def answer(channel, command):
    channel.sendall(b"ran " + command + b"\n")
    channel.send_exit_status(0)
    channel.close()


listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
host_key = paramiko.RSAKey.generate(2048)
while True:
    connection, _ = listener.accept()
    transport = paramiko.Transport(connection)
    transport.add_server_key(host_key)
    transport.start_server(server=Server())
