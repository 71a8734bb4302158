"""Logs on to an SMB server, and says how that went: logon.py HOST PORT ACCOUNT KEY"""
import sys

from impacket import nt_errors, smb3structs
from impacket.smbconnection import SessionError, SMBConnection

host, port, account, key = sys.argv[1:]
connection = SMBConnection(host, host, sess_port=int(port), preferredDialect=smb3structs.SMB2_DIALECT_30, timeout=60)
try:
    connection.login(account, key, "")
    print("logged on")
except SessionError as error:
    print(nt_errors.ERROR_MESSAGES[error.getErrorCode()][0])
