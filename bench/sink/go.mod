module sink

go 1.21
